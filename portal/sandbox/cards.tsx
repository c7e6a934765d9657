/**
 * The bank's catalogue: every test card with what happens to a payment, and a button that pays with
 * it.
 */
import { Button } from "@mantine/core";
import { usePerformer } from "../actions/performer.tsx";
import { Section } from "../design/details.tsx";
import { Refusal } from "../design/states.tsx";
import { Status } from "../design/status.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { Link } from "../shell/url.tsx";
import { describeCard, endpointFor, type Payment, type SandboxView } from "./test-payments.ts";

export function Cards({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  const groups = Map.groupBy(sandbox.cards, ({ group }) => group);
  return (
    <>
      <p className="quiet">{messages.cardHint}</p>
      {[...groups].map(([group, cards]) => (
        <Section key={group} title={group}>
          <Table
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
              [messages.whatHappens, ({ what }) => describeCard(what), "text quiet"],
            ]}
            actions={({ name }) => (
              <PayButton
                label={messages.payWith(name)}
                payment={{ card: name, endpoint: endpointFor(group, sandbox) }}
              />
            )}
          />
        </Section>
      ))}
    </>
  );
}

type PayButtonProps = { readonly label: string; readonly payment: Payment };

/**
 * Pays, and shows the result with a link to the order. A challenge of the cardholder opens with a
 * further click.
 */
export function PayButton({ label, payment }: PayButtonProps) {
  const messages = useMessages();
  const pay = usePerformer(() => call("POST /sandbox/pay", payment));
  const { data } = pay;
  return (
    <>
      <div className="line">
        <Button variant="default" loading={pay.isPending} onClick={() => pay.mutate()}>
          {label}
        </Button>
        {data && (
          <span className="line" role="status">
            <Status status={data.status} />
            <Link to={`orders/${data.order}`}>{data.order}</Link>
          </span>
        )}
      </div>
      {data?.redirect !== undefined && (
        <Button component="a" href={data.redirect}>
          {messages.goOnAtBank}
        </Button>
      )}
      <Refusal text={pay.error?.message} />
    </>
  );
}
