/** The bank's books beside ours, order by order, with every difference. */
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Failed, Nothing } from "../design/states.tsx";
import { TableHead } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { live } from "../shell/call.ts";
import { Link } from "../shell/url.tsx";
import { type Booked, comparisonOf } from "./test-payments.ts";

const againEveryMs = 5_000;

export function Ledger() {
  const messages = useMessages();
  const found = useQuery({
    queryKey: ["sandbox-ledger"],
    queryFn: live("GET /sandbox/ledger", {}),
    refetchInterval: againEveryMs,
  });
  if (found.error !== null) {
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  }
  if (found.data === undefined) return <Skeleton height={240} />;
  const { booked } = found.data;
  if (booked.length === 0) {
    return <Nothing title={messages.noBookings} hint={messages.noBookingsHint} />;
  }
  const differing = booked.filter(({ differs }) => differs).length;
  return (
    <>
      <p className="quiet">{messages.ledgerHint}</p>
      <p className={differing === 0 ? "success" : "refusal"} role="status">
        {differing === 0 ? messages.booksAgree : messages.booksDiffer(differing)}
      </p>
      <table className="listing">
        <TableHead
          columns={[
            messages.order,
            [messages.reference, "minor"],
            [messages.atBank, "number"],
            [messages.here, "number"],
            messages.difference,
          ]}
        />
        <tbody>
          {booked.map((row) => (
            <LedgerRow key={row.reference} row={row} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function LedgerRow({ row }: { readonly row: Booked }) {
  const messages = useMessages();
  const { order, reference, bank, gateway, isHeld } = row;
  const [colour, word] = comparisonOf(row);
  const show = (money: Booked["bank"]) =>
    money === undefined ? messages.nothingBooked : `${money.text} ${money.currency}`;
  return (
    <tr>
      <td>
        {order === undefined ? messages.unknownHere : <Link to={`orders/${order}`}>{order}</Link>}
      </td>
      <td className="minor">
        <code>{reference}</code>
      </td>
      <td className="number">{show(bank)}</td>
      <td className="number">
        {show(gateway)} {isHeld && <small>{messages.held}</small>}
      </td>
      <td>
        <span className="status" data-status={colour}>
          {messages[word]}
        </span>
      </td>
    </tr>
  );
}
