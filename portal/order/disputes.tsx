/**
 * The disputes about an order, such as chargebacks: what the stage means, the deadline of the
 * answer, what to send to the acquirer, and the decision. If the reason is fraud, earlier
 * undisputed payments of the card are listed as evidence.
 */
import { ActionButton } from "../actions/action-button.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { LoadedPart, Mark, Section } from "../design/details.tsx";
import { Name, Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";

type DisputesProps = { readonly order: string };

export function Disputes({ order }: DisputesProps) {
  const messages = useMessages();
  return (
    <Section title={messages.disputes}>
      <LoadedPart query={useRows("chargeback list", { order })}>
        {(rows) => (
          <div className="stack">
            <Stages order={order} rows={rows} />
            <Advice order={order} kind={rows[0]?.["means"] ?? "other"} />
          </div>
        )}
      </LoadedPart>
    </Section>
  );
}

function Stages({ order, rows }: DisputesProps & { readonly rows: readonly Row[] }) {
  const messages = useMessages();
  return (
    <Table
      className="rows stacked still"
      rows={rows}
      keyOf={({ case: id, stage }) => `${id} ${stage}`}
      columns={[
        [messages.case, ({ case: id, reason }) => <Name name={id} note={reason} />],
        [messages.stage, ({ stage = "" }) => wordIn(messages.chargebackStages, stage)],
        [messages.amount, ({ amount }) => amount, "number"],
        [messages.recorded, ({ at }) => at, "time"],
        [messages.answerDue, ({ due }) => due, "time"],
        [messages.fields.decision, ({ decision }) => <Decision decision={decision} />],
      ]}
      actions={({ case: id, due }) =>
        due !== "" && (
          <ActionButton action="chargeback decide" name={id} values={valuesOf(order, id)} />
        )
      }
    />
  );
}

const valuesOf = (order: string, id = "") => ({ order, case: id });

function Decision({ decision = "" }: { readonly decision: string | undefined }) {
  const { choices } = useMessages();
  if (decision === "") return null;
  const kind = decision === "accepted" ? "declined" : "processing";
  return <Mark kind={kind}>{wordIn(choices, decision)}</Mark>;
}

function Advice({ order, kind }: DisputesProps & { readonly kind: string }) {
  const { disputeMeanings, disputeAnswers } = useMessages();
  return (
    <>
      <p>
        <b>{wordIn(disputeMeanings, kind)}</b> {wordIn(disputeAnswers, kind)}
      </p>
      {kind === "fraud" && <Evidence order={order} />}
    </>
  );
}

function Evidence({ order }: DisputesProps) {
  const messages = useMessages();
  const factsOf = (shared = "") =>
    shared.split(" ").map((each) => wordIn(messages.sharedFacts, each));
  return (
    <>
      <h3>{messages.evidence}</h3>
      <p className="quiet section-hint">{messages.evidenceHint}</p>
      <LoadedPart query={useRows("chargeback evidence", { order })}>
        {(rows) => (
          <Table
            className="rows stacked still"
            rows={rows}
            none={messages.noEvidence}
            keyOf={(row) => row["order"] ?? ""}
            columns={[
              [messages.order, (row) => <Name name={row["order"]} to={`orders/${row["order"]}`} />],
              [messages.amount, ({ amount }) => amount, "number"],
              [messages.inCommon, ({ shared }) => factsOf(shared).join(", "), "whole"],
              [messages.sharedFacts.ip, ({ ip }) => <code>{ip}</code>],
              [messages.accepted, ({ at }) => at, "time"],
            ]}
          />
        )}
      </LoadedPart>
    </>
  );
}
