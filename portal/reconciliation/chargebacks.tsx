/**
 * The chargebacks that were recorded on orders, the latest first, and the lines of an import that
 * were not recorded.
 */
import { type Row, useRows } from "../actions/values.ts";
import { Mark } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Name } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { unrecordedIn } from "./day-lines.ts";

/** `imported` is the result of the last import, with the result of each line. */
export function Chargebacks({ imported }: { readonly imported: object }) {
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
