/** The bank's catalogue: every test card, and what happens to a payment with it. */
import { TableHead } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { PayButton } from "./payments.tsx";
import { describeCard, endpointFor, type SandboxView } from "./test-payments.ts";

type Card = SandboxView["cards"][number];

export function Cards({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  const groups = Map.groupBy(sandbox.cards, ({ group }) => group);
  return (
    <>
      <p className="quiet">{messages.cardHint}</p>
      {[...groups].map(([group, cards]) => (
        <section key={group} className="section">
          <h2>{group}</h2>
          <table className="listing">
            <TableHead
              columns={[messages.card, [messages.whatHappens, "minor"]]}
              actions={messages.action}
            />
            <tbody>
              {cards.map((card) => (
                <CardRow key={card.name} card={card} endpoint={endpointFor(group, sandbox)} />
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  );
}

function CardRow({ card, endpoint }: { readonly card: Card; readonly endpoint: string }) {
  const messages = useMessages();
  return (
    <tr>
      <td className="test-card">
        <b>{card.name}</b>
        <code>{card.card}</code>
      </td>
      <td className="minor quiet">{describeCard(card.what)}</td>
      <td className="tools-wide">
        <PayButton label={messages.payWith(card.name)} payment={{ card: card.name, endpoint }} />
      </td>
    </tr>
  );
}
