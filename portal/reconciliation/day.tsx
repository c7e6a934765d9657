/** One day of a gate: totals on both sides, and every difference. */
import { Facts, Head, Loaded, Section, Stamp } from "../design/details.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { Link, useAddress } from "../shell/url.tsx";
import { acquirersTotal, readDay } from "./day-lines.ts";
import { DayState } from "./reconciliation.tsx";

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
