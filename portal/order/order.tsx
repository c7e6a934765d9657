/**
 * The page of one order: its facts, its timeline, what the merchant sent and saw, its transactions
 * and callbacks, and the actions that the user may perform.
 */
import { useState } from "react";
import { Attempt, DeliveryState } from "../callbacks/state.tsx";
import { Facts, Head, Loaded, Section, Time } from "../design/details.tsx";
import { Card, Status, Type } from "../design/status.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { Amount } from "../orders/order-table.tsx";
import { useAnswer } from "../shell/call.ts";
import { useKeys } from "../shell/keys.ts";
import { useAddress } from "../shell/url.tsx";
import type { Done } from "./action-texts.ts";
import { Actions, Confirmation } from "./actions.tsx";
import { Disputes } from "./disputes.tsx";
import {
  detailsOf,
  fieldsOf,
  isDisputed,
  isUnfinished,
  type OrderDetail,
  totalsOf,
} from "./order-texts.ts";
import { FieldList, Timeline } from "./timeline.tsx";

/** How often the page reads an unfinished order again. */
const liveEveryMs = 3_000;

export function Order() {
  const { item: order } = useAddress();
  const found = useAnswer(
    "GET /orders/:order",
    { order },
    { everyMs: (detail) => isUnfinished(detail) && liveEveryMs },
  );
  useKeys([["Escape", () => history.back()]]);

  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

function Shown({ detail }: { readonly detail: OrderDetail }) {
  const { messages } = useLanguage();
  const { line, request, seen, transactions, callbacks } = detail;
  const [done, setDone] = useState<Done>();
  return (
    <div className="screen stack">
      <Head
        back={{ to: "orders", label: messages.orders }}
        title={<Amount {...line.amount} />}
        state={<Status status={line.status} />}
      >
        <Actions detail={detail} onDone={setDone} />
      </Head>
      <Confirmation done={done} detail={detail} />
      <Summary line={line} />
      {isDisputed(detail) && <Disputes order={line.order} />}
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
              <FieldList fields={fieldsOf(transaction, messages)} />
              <details className="message">
                <summary>{messages.details}</summary>
                <FieldList fields={detailsOf(transaction, messages)} />
              </details>
            </Section>
          ))}
          <Section title={messages.seen}>
            <p className="quiet">{messages.seenHint}</p>
            <pre className="response">
              {seen.split(/(?=&)/).map((pair) => (
                <span key={pair}>{pair}</span>
              ))}
            </pre>
          </Section>
        </div>
      </div>
    </div>
  );
}

function Summary({ line }: { readonly line: OrderDetail["line"] }) {
  const messages = useMessages();
  return (
    <Facts
      facts={[
        [messages.order, <code key="order">{line.order}</code>],
        [messages.clientOrder, line.clientOrder],
        [messages.type, <Type key="type" type={line.type} />],
        [messages.card, <Card key="card" {...line} />],
        [messages.customer, `${line.name} ${line.email}`.trim()],
        [messages.merchant, line.merchant],
        [messages.accepted, <Time key="at" at={line.at} />],
        [messages.gate, line.gate],
        [messages.reason, line.reason && messages.reasonOf(line.reason)],
      ]}
    />
  );
}

function Callbacks({ callbacks }: Pick<OrderDetail, "callbacks">) {
  const messages = useMessages();
  if (callbacks.length === 0) return <p className="quiet">{messages.noCallbacks}</p>;
  return (
    <ul className="callbacks">
      {callbacks.map(({ callback, attempts }) => (
        <li key={callback.sequence}>
          <div className="event">
            <DeliveryState callback={callback} />
            <code>{callback.url}</code>
            {callback.nextAt !== undefined && (
              <small>
                {messages.nextTry} <Time at={callback.nextAt} />
              </small>
            )}
          </div>
          {attempts.map((attempt) => (
            <Attempt key={attempt.at} attempt={attempt} />
          ))}
        </li>
      ))}
    </ul>
  );
}
