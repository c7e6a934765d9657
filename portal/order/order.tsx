/**
 * One order: what it is, what happened to it step by step, what the merchant sent and saw, its
 * transactions and callbacks, and what the user may do with it.
 */
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Icon } from "../design/icons.tsx";
import { Failed } from "../design/states.tsx";
import { Card, Status, Type } from "../design/status.tsx";
import { useLanguage, type useMessages } from "../language/language.tsx";
import { call, type OutputOf } from "../shell/call.ts";
import { useKeys } from "../shell/keys.ts";
import { Link, usePlace } from "../shell/url.tsx";
import { Actions } from "./actions.tsx";
import { Callbacks } from "./callbacks.tsx";
import { FieldList } from "./message.tsx";
import { Timeline } from "./timeline.tsx";

export type OrderDetail = OutputOf<"GET /orders/:order">;

/** An order that is not finished is asked for again. */
const liveEveryMs = 3_000;

export function Order() {
  const { item: order } = usePlace();
  const found = useQuery({
    queryKey: ["order", order],
    queryFn: ({ signal, client, queryKey }) => {
      const isPoll = client.getQueryData(queryKey) !== undefined;
      return call("GET /orders/:order", { order }, { signal, isPoll });
    },
    refetchInterval: ({ state }) =>
      state.data?.line.status === "processing" ? liveEveryMs : false,
  });
  useKeys([["Escape", () => history.back()]]);

  if (found.data !== undefined) return <Shown detail={found.data} />;
  if (found.error !== null) {
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  }
  return (
    <div className="screen" aria-busy="true">
      <Skeleton height={14} width={120} />
      <Skeleton height={30} width={260} />
      <Skeleton height={220} />
    </div>
  );
}

function Shown({ detail }: { readonly detail: OrderDetail }) {
  const { messages } = useLanguage();
  const { line, request, seen, transactions, callbacks } = detail;
  return (
    <div className="screen">
      <Link to="orders" className="back">
        <Icon name="left" size={14} />
        {messages.orders}
      </Link>
      <div className="heading order-heading">
        <h1>
          {line.amount.text} <small>{line.amount.currency}</small>
        </h1>
        <Status status={line.status} detail={line.stage} />
        <div className="space" />
        <Actions detail={detail} />
      </div>
      <Summary line={line} />
      <div className="columns">
        <div>
          <Section title={messages.timeline}>
            <Timeline detail={detail} />
          </Section>
          <Section title={messages.callbacks}>
            <Callbacks callbacks={callbacks} />
          </Section>
          <Section title={messages.sent}>
            <FieldList fields={request} />
          </Section>
        </div>
        <div>
          <Section title={messages.totals}>
            <FieldList fields={totalsOf(detail, messages)} />
          </Section>
          {transactions.map((transaction) => (
            <Section key={transaction.serialNumber} title={<Type type={transaction.kind} />}>
              <FieldList fields={fieldsOf(transaction)} />
            </Section>
          ))}
          <Section title={messages.seen}>
            <FieldList fields={seen} />
          </Section>
        </div>
      </div>
    </div>
  );
}

function Summary({ line }: { readonly line: OrderDetail["line"] }) {
  const { messages, showTime } = useLanguage();
  return (
    <dl className="facts">
      <Fact name={messages.order}>
        <code>{line.order}</code>
      </Fact>
      <Fact name={messages.clientOrder}>{line.clientOrder}</Fact>
      <Fact name={messages.type}>
        <Type type={line.type} />
      </Fact>
      <Fact name={messages.card}>
        <Card network={line.network} lastFour={line.lastFour} />
      </Fact>
      <Fact name={messages.customer}>{line.email}</Fact>
      <Fact name={messages.merchant}>{line.merchant}</Fact>
      <Fact name={messages.accepted}>{showTime(line.at)}</Fact>
      <Fact name={messages.gate}>{line.gate}</Fact>
      <Fact name={messages.reason}>{line.reason}</Fact>
    </dl>
  );
}

/** Nothing at all where the order has no such fact. */
function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Section({ title, children }: { readonly title: ReactNode; readonly children: ReactNode }) {
  return (
    <section className="section">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

type Field = { readonly name: string; readonly value: string };

function totalsOf({ totals }: OrderDetail, messages: ReturnType<typeof useMessages>) {
  const names = ["held", "charged", "returned", "left"] as const;
  return names.map((name) => {
    const { text, currency } = totals[name];
    return { name: messages[name], value: `${text} ${currency}` };
  });
}

/** The names of the API: an operator compares them with logs and the acquirer's messages. */
function fieldsOf(transaction: OrderDetail["transactions"][number]): readonly Field[] {
  const { amount, finishedAt: _, kind: __, ...rest } = transaction;
  const fields = Object.entries(rest).map(([name, value]) => ({ name, value: String(value) }));
  return [{ name: "amount", value: `${amount.text} ${amount.currency}` }, ...fields];
}
