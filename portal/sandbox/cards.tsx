/** The bank's catalogue: every test card, and what happens to a payment with it. */
import { PlainSection } from "../design/details.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { PayButton } from "./payments.tsx";
import { describeCard, endpointFor, type SandboxView } from "./test-payments.ts";

export function Cards({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  const groups = Map.groupBy(sandbox.cards, ({ group }) => group);
  return (
    <>
      <p className="quiet">{messages.cardHint}</p>
      {[...groups].map(([group, cards]) => (
        <PlainSection key={group} title={group}>
          <Table
            className="listing"
            rows={cards}
            keyOf={({ name }) => name}
            columns={[
              [
                messages.card,
                ({ name, card }) => (
                  <>
                    <b>{name}</b>
                    <code>{card}</code>
                  </>
                ),
                "test-card",
              ],
              [messages.whatHappens, ({ what }) => describeCard(what), "minor quiet"],
            ]}
            actions={({ name }) => (
              <PayButton
                label={messages.payWith(name)}
                payment={{ card: name, endpoint: endpointFor(group, sandbox) }}
              />
            )}
          />
        </PlainSection>
      ))}
    </>
  );
}
