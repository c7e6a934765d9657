/** The bank's catalogue: every test card, and what happens to a payment with it. */
import { useMessages } from "../language/language.tsx";
import { PayButton, type SandboxView } from "./payments.tsx";

type Card = SandboxView["cards"][number];

export function Cards({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  const groups = Map.groupBy(sandbox.cards, ({ group }) => group);
  const idOf = (wanted: string) => sandbox.endpoints.find(({ name }) => name === wanted)?.id ?? "";
  return (
    <>
      <p className="quiet">{messages.cardHint}</p>
      {[...groups].map(([group, cards]) => (
        <section key={group} className="section">
          <h2>{group}</h2>
          <table className="listing">
            <thead>
              <tr>
                <th>{messages.card}</th>
                <th className="minor">{messages.whatHappens}</th>
                <th aria-label={messages.action} />
              </tr>
            </thead>
            <tbody>
              {cards.map((card) => (
                <CardRow
                  key={card.name}
                  card={card}
                  endpoint={idOf(/3-D Secure|networks/.test(group) ? "secure" : "plain")}
                />
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
  // The bank writes a plain decline as its response code alone.
  const what = /^[0-9A-Z]{2}$/.test(card.what) ? `declined with code ${card.what}` : card.what;
  return (
    <tr>
      <td className="test-card">
        <b>{card.name}</b>
        <code>{card.card}</code>
      </td>
      <td className="minor quiet">{what}</td>
      <td className="tools-wide">
        <PayButton label={messages.payWith(card.name)} payment={{ card: card.name, endpoint }} />
      </td>
    </tr>
  );
}
