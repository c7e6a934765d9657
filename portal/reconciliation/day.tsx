/** One day of a gate: totals on both sides, and every difference. */
import { useQuery } from "@tanstack/react-query";
import { Facts, Head, Loaded, Section, Stamp } from "../design/details.tsx";
import { StackedTable, TableHead } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type OutputOf } from "../shell/call.ts";
import { Link, usePlace } from "../shell/url.tsx";
import { acquirersTotal, readDay } from "./day-lines.ts";
import { DayState } from "./reconciliation.tsx";

type Detail = OutputOf<"GET /reconciliations/:gate/:day">;

export function ReconciledDay() {
  const { item: gate, query } = usePlace();
  const input = readDay(gate, query);
  const found = useQuery({
    queryKey: ["reconciliation", input],
    queryFn: ({ signal }) => call("GET /reconciliations/:gate/:day", input, { signal }),
  });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

function Shown({ detail }: { readonly detail: Detail }) {
  const messages = useConfigurationMessages();
  const { line, differences } = detail;
  return (
    <div className="screen">
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
          {differences.length === 0 ? (
            <p className="quiet">{messages.noDifferences}</p>
          ) : (
            <Differences differences={differences} />
          )}
        </Section>
      )}
      <Section title={messages.totals}>
        <Totals totals={detail.totals} />
      </Section>
    </div>
  );
}

function Differences({ differences }: Pick<Detail, "differences">) {
  const messages = useConfigurationMessages();
  return (
    <StackedTable
      rows={differences}
      keyOf={({ kind, reference, what, line }) => `${kind} ${reference} ${what} ${line}`}
      columns={[
        [messages.difference, ({ kind }) => <b>{messages.differenceKinds[kind] ?? kind}</b>],
        [messages.reference, ({ reference }) => reference, "mono shown"],
        [messages.kind, ({ what }) => messages.types[what as "sale"] ?? what, "quiet"],
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
  const messages = useConfigurationMessages();
  return (
    <table className="rows still small">
      <TableHead columns={[messages.kind, [messages.here, "number"], [messages.there, "number"]]} />
      <tbody>
        {totals.map((total) => (
          <tr key={`${total.currency} ${total.kind}`}>
            <td>
              {messages.types[total.kind as "sale"] ?? total.kind} <small>{total.currency}</small>
            </td>
            <td className="number plain">
              {total.here} <small>× {total.countHere}</small>
            </td>
            <td className="number plain">
              <AcquirersTotal {...acquirersTotal(total)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function AcquirersTotal({ sum, count }: ReturnType<typeof acquirersTotal>) {
  if (count === undefined) return sum;
  return (
    <>
      {sum} <small>× {count}</small>
    </>
  );
}
