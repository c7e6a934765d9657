/** The list of orders: a table at a desk, a stack of two-line rows on a phone. */
import { Skeleton } from "@mantine/core";
import { Time } from "../design/details.tsx";
import { Failed } from "../design/states.tsx";
import { Card, Status, Type } from "../design/status.tsx";
import { TableHead } from "../design/table.tsx";
import { useLanguage } from "../language/language.tsx";
import type { User } from "../shell/call.ts";
import { go, Link } from "../shell/url.tsx";
import type { OrderLine } from "./order-query.ts";

type TableProps = {
  readonly orders: readonly OrderLine[];
  readonly selected: string;
  /** The rows of the search before, until those of this one are there. */
  readonly isOld: boolean;
  readonly user: User;
};

export function OrderTable({ orders, selected, isOld, user }: TableProps) {
  const { messages } = useLanguage();
  const isOperator = user.merchant === undefined;
  return (
    <table className="rows" aria-busy={isOld}>
      <TableHead
        columns={[
          [messages.amount, "number"],
          messages.status,
          messages.order,
          messages.customer,
          messages.card,
          isOperator && messages.merchant,
          [messages.type, "type"],
          [messages.accepted, "time"],
        ]}
      />
      <tbody>
        {orders.map((order) => (
          <Row
            key={order.order}
            order={order}
            isSelected={order.order === selected}
            isOperator={isOperator}
          />
        ))}
      </tbody>
    </table>
  );
}

type RowProps = {
  readonly order: OrderLine;
  readonly isSelected: boolean;
  readonly isOperator: boolean;
};

function Row({ order, isSelected, isOperator }: RowProps) {
  return (
    <tr
      data-row={order.order}
      data-selected={isSelected || undefined}
      onClick={() => go(`orders/${order.order}`)}
    >
      <td className="number">
        {order.amount.text} <small>{order.amount.currency}</small>
      </td>
      <td>
        <Status status={order.status} />
      </td>
      <td className="mono" title={order.clientOrder}>
        <Link to={`orders/${order.order}`}>{order.order}</Link>
      </td>
      <td className="wide" title={order.email}>
        {order.name} <small>{order.email}</small>
      </td>
      <td className="card">
        <Card network={order.network} lastFour={order.lastFour} />
      </td>
      {isOperator && <td className="merchant">{order.merchant}</td>}
      <td className="type">
        <Type type={order.type} />
      </td>
      <td className="time">
        <Time at={order.at} />
      </td>
    </tr>
  );
}

type WaitingProps = { readonly error: Error | null; readonly retry: () => void };

/** In place of the rows of a list. */
export function Waiting({ error, retry }: WaitingProps) {
  if (error !== null) return <Failed error={error} retry={retry} />;
  return (
    <div className="waiting" aria-busy="true">
      {Array.from({ length: 12 }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content
        <Skeleton key={row} height={14} />
      ))}
    </div>
  );
}
