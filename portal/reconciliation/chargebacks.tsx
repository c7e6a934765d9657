/** The chargebacks that were recorded on orders, the latest first, and lines that were not. */
import { type Row, useRows } from "../commands/request.ts";
import { LoadedPart, Mark } from "../design/details.tsx";
import { Nothing } from "../design/states.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { go, Link } from "../shell/url.tsx";
import { unrecordedIn } from "./day-lines.ts";

/** `imported` is what the last import has answered: the result of each line. */
export function Chargebacks({ imported }: { readonly imported: object }) {
  const messages = useConfigurationMessages();
  const found = useRows("chargeback list");
  return (
    <>
      <Unrecorded {...imported} />
      <LoadedPart query={found}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing title={messages.noChargebacks} hint={messages.noChargebacksHint} />
          ) : (
            <ChargebackTable rows={rows} />
          )
        }
      </LoadedPart>
    </>
  );
}

function Unrecorded({ rows = [] }: { readonly rows?: readonly Row[] }) {
  const { unrecorded, unrecordedLine, importResults } = useConfigurationMessages();
  const left = unrecordedIn(rows);
  if (left.length === 0) return null;
  return (
    <div className="verdict" data-is="wrong" role="alert">
      <p>{unrecorded(left.length)}</p>
      <ul>
        {left.map(({ line = "", case: id = "", result = "" }) => (
          <li key={line}>
            {unrecordedLine(line, id)} {importResults[result] ?? result}
          </li>
        ))}
      </ul>
    </div>
  );
}

function ChargebackTable({ rows }: { readonly rows: readonly Row[] }) {
  const messages = useConfigurationMessages();
  return (
    <table className="rows stacked">
      <thead>
        <tr>
          <th>{messages.order}</th>
          <th>{messages.stage}</th>
          <th className="number">{messages.amount}</th>
          <th>{messages.case}</th>
          <th>{messages.reason}</th>
          <th className="time">{messages.recorded}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ order = "", case: id, stage = "", amount, reason, at }) => (
          <tr key={`${order} ${id} ${stage}`} onClick={() => go(`orders/${order}`)}>
            <td>
              <Link to={`orders/${order}`}>
                <b>{order}</b>
              </Link>
            </td>
            <td>
              <Mark kind={stage === "reversed" ? "approved" : "declined"}>
                {messages.chargebackStages[stage] ?? stage}
              </Mark>
            </td>
            <td className="number" data-name={messages.amount}>
              {amount}
            </td>
            <td className="quiet" data-name={messages.case}>
              {id}
            </td>
            <td className="wide quiet" data-name={messages.reason}>
              {reason || "–"}
            </td>
            <td className="time" data-name={messages.recorded}>
              {at}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
