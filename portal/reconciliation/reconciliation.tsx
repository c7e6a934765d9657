/**
 * The screens of reconciliation: the days that were compared with the acquirers' records, the form
 * that compares another day, the page of one day with its differences, and the chargebacks.
 */
import { useState } from "react";
import { ActionButton } from "../actions/action-button.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { Facts, Head, Loaded, Mark, Section, Stamp, Tabs } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Name, Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { Link, useAddress } from "../shell/url.tsx";
import {
  acquirersTotal,
  addressOf,
  type DayLine,
  readDay,
  stateOf,
  unrecordedIn,
} from "./day-lines.ts";

export function Reconciliation() {
  const messages = useMessages();
  const isOfDays = useAddress().query.get("tab") !== "chargebacks";
  const [imported, setImported] = useState<object>({});
  return (
    <div className="screen stack">
      <Head title={messages.reconciliation}>
        {isOfDays ? (
          <ActionButton action="reconcile" isMain />
        ) : (
          <ActionButton action="chargeback import" isMain onDone={setImported} />
        )}
      </Head>
      <Tabs
        path="reconciliation"
        tabs={[
          ["days", messages.days, () => <Days />],
          ["chargebacks", messages.chargebacks, () => <Chargebacks imported={imported} />],
        ]}
      />
    </div>
  );
}

function Days() {
  const messages = useMessages();
  const after = useAddress().query.get("after");
  const found = useAnswer("GET /reconciliations", after ? { after } : {}, { keepsBefore: true });
  return (
    <List
      found={found}
      rowsOf={({ reconciliations }) => reconciliations}
      none={[messages.noDays, messages.noDaysHint]}
      keyOf={addressOf}
      opens={addressOf}
      columns={[
        [messages.day, (line) => <Name name={line.day} to={addressOf(line)} />],
        [messages.result, (line) => <DayState line={line} />],
        [messages.gate, ({ gate }) => gate, "quiet"],
        [messages.way, ({ way }) => messages.ways[way], "quiet"],
        [messages.matched, ({ way, matched }) => (way === "file" ? matched : "–"), "number plain"],
        [messages.compared, (line) => <Stamp {...line} />, "time"],
      ]}
    />
  );
}

export function DayState({ line }: { readonly line: DayLine }) {
  const [colour, text] = stateOf(line, useMessages());
  return <Mark kind={colour}>{text}</Mark>;
}

type Detail = OutputOf<"GET /reconciliations/:gate/:day">;

export function ReconciledDay() {
  const { item: gate, query } = useAddress();
  const found = useAnswer("GET /reconciliations/:gate/:day", readDay(gate, query));
  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

function Shown({ detail }: { readonly detail: Detail }) {
  const messages = useMessages();
  const { line, differences } = detail;
  return (
    <div className="screen stack">
      <Head
        back={{ to: "reconciliation", label: messages.reconciliation }}
        title={`${line.gate}, ${line.day}`}
        state={<DayState line={line} />}
      />
      <Facts
        facts={[
          [messages.way, messages.ways[line.way]],
          [messages.matched, line.way === "file" ? String(line.matched) : ""],
          [messages.compared, <Stamp key="compared" {...line} />],
        ]}
      />
      {line.way === "file" && (
        <Section title={messages.allDifferences}>
          <Differences differences={differences} />
        </Section>
      )}
      <Section title={messages.totals}>
        <Totals totals={detail.totals} />
      </Section>
    </div>
  );
}

function Differences({ differences }: Pick<Detail, "differences">) {
  const messages = useMessages();
  return (
    <Table
      rows={differences}
      none={messages.noDifferences}
      keyOf={({ kind, reference, what, line }) => `${kind} ${reference} ${what} ${line}`}
      columns={[
        [messages.difference, ({ kind }) => <b>{wordIn(messages.differenceKinds, kind)}</b>],
        [messages.reference, ({ reference }) => reference, "mono shown"],
        [messages.fields.kind, ({ what }) => messages.types[what as "sale"] ?? what, "quiet"],
        [messages.here, ({ here = "–" }) => here, "number plain"],
        [messages.there, ({ there = "–" }) => there, "number plain"],
        [
          messages.order,
          ({ order }) => order && <Link to={`orders/${order}`}>{order}</Link>,
          "mono shown",
        ],
      ]}
    />
  );
}

function Totals({ totals }: Pick<Detail, "totals">) {
  const messages = useMessages();
  return (
    <Table
      className="rows stacked still small"
      rows={totals}
      keyOf={({ currency, kind }) => `${currency} ${kind}`}
      columns={[
        [
          messages.fields.kind,
          ({ kind, currency }) => (
            <>
              {messages.types[kind as "sale"] ?? kind} <small>{currency}</small>
            </>
          ),
        ],
        [
          messages.here,
          ({ here, countHere }) => <Total sum={here} count={countHere} />,
          "number plain",
        ],
        [messages.there, (total) => <Total {...acquirersTotal(total)} />, "number plain"],
      ]}
    />
  );
}

function Total({ sum, count }: ReturnType<typeof acquirersTotal>) {
  if (count === undefined) return sum;
  return (
    <>
      {sum} <small>× {count}</small>
    </>
  );
}

/** `imported` is the result of the latest import in this window, if there was one. */
function Chargebacks({ imported }: { readonly imported: object }) {
  const messages = useMessages();
  const found = useRows("chargeback list");
  return (
    <>
      <Unrecorded {...imported} />
      <List
        found={{ ...found, data: found.data && { rows: found.data } }}
        rowsOf={({ rows }) => rows}
        none={[messages.noChargebacks, messages.noChargebacksHint]}
        keyOf={({ order, case: id, stage }) => `${order} ${id} ${stage}`}
        opens={({ order }) => `orders/${order}`}
        columns={[
          [messages.order, ({ order }) => <Name name={order} to={`orders/${order}`} />],
          [messages.stage, ({ stage }) => <Stage stage={stage} />],
          [messages.amount, ({ amount }) => amount, "number"],
          [messages.case, ({ case: id }) => id, "quiet"],
          [messages.reason, ({ reason }) => reason || "–", "wide quiet"],
          [messages.answerDue, ({ due }) => due, "time"],
          [messages.fields.decision, ({ decision }) => wordIn(messages.choices, decision ?? "")],
          [messages.recorded, ({ at }) => at, "time"],
        ]}
      />
    </>
  );
}

function Unrecorded({ rows = [] }: { readonly rows?: readonly Row[] }) {
  const { unrecorded, unrecordedLine, importResults } = useMessages();
  const left = unrecordedIn(rows);
  if (left.length === 0) return null;
  return (
    <div className="verdict" data-is="wrong" role="alert">
      <p>{unrecorded(left.length)}</p>
      <ul>
        {left.map(({ line = "", case: id = "", result = "" }) => (
          <li key={line}>
            {unrecordedLine(line, id)} {wordIn(importResults, result)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Stage({ stage = "" }: { readonly stage: string | undefined }) {
  const { chargebackStages } = useMessages();
  return (
    <Mark kind={stage === "reversed" ? "approved" : "declined"}>
      {wordIn(chargebackStages, stage)}
    </Mark>
  );
}
