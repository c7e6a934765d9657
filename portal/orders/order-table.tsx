/** The table of orders. On a phone, each order is shown in two lines. */
import { Time } from "../design/details.tsx";
import { Card, Status, Type } from "../design/status.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useUser } from "../shell/session.ts";
import { Link } from "../shell/url.tsx";
import type { OrderLine } from "./order-query.ts";

type TableProps = {
  readonly orders: readonly OrderLine[];
  readonly isOld?: boolean;
  readonly none?: string;
};

export function OrderTable({ orders, ...given }: TableProps) {
  const messages = useMessages();
  const { isOperator } = useUser();
  return (
    <Table
      className="rows"
      rows={orders}
      keyOf={({ order }) => order}
      opens={({ order }) => `orders/${order}`}
      {...given}
      columns={[
        [messages.amount, ({ amount }) => <Amount {...amount} />, "number"],
        [messages.status, ({ status }) => <Status status={status} />],
        [
          messages.order,
          ({ order }) => <Link to={`orders/${order}`}>{order}</Link>,
          "mono",
          ({ clientOrder }) => clientOrder,
        ],
        [messages.customer, (order) => <Customer {...order} />, "wide", ({ email }) => email],
        [messages.card, (order) => <Card {...order} />, "card"],
        isOperator && [messages.merchant, ({ merchant }) => merchant, "merchant"],
        [messages.type, ({ type }) => <Type type={type} />, "type"],
        [messages.accepted, ({ at }) => <Time at={at} />, "time"],
      ]}
    />
  );
}

export function Amount({ text, currency }: Pick<OrderLine["amount"], "text" | "currency">) {
  return (
    <>
      {text} <small>{currency}</small>
    </>
  );
}

function Customer({ name, email }: Pick<OrderLine, "name" | "email">) {
  return (
    <>
      {name} <small>{email}</small>
    </>
  );
}
