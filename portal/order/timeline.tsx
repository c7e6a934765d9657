/**
 * The timeline of an order, with the first step on top: time, facts, messages, the status response
 * that the merchant gets from then on, and attempts to deliver a callback. The time since the
 * previous step shows where the order has waited.
 */
import { Fields, Time } from "../design/details.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { gapOf } from "../language/times.ts";
import type { OutputOf } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { Link } from "../shell/url.tsx";
import {
  type Field,
  isNews,
  type OrderDetail,
  ruleOf,
  seenBefore,
  timelineOf,
} from "./order-texts.ts";

export function Timeline({ detail }: { readonly detail: OrderDetail }) {
  const messages = useMessages();
  const maySeeGates = useUser().may("see_configuration");
  const entries = timelineOf(detail, messages);
  return (
    <ol className="timeline">
      {entries.map((entry, at) => {
        const before = entries[at - 1];
        return (
          <li key={`${entry.title} ${entry.at}`} data-failed={entry.isFailed || undefined}>
            <div className="event">
              <b>{entry.title}</b>
              <span className="space" />
              {before && <small>{gapOf(entry.at - before.at)}</small>}
              <Time at={entry.at} />
            </div>
            <Fields
              className="event-facts"
              rows={entry.facts.map(([name, value, to]) => [
                name,
                to === undefined || !maySeeGates ? (
                  value
                ) : (
                  <Link key={name} to={to}>
                    {value}
                  </Link>
                ),
              ])}
            />
            {entry.rules && (
              <Fields
                className="event-facts"
                rows={entry.rules.map((rule) => ruleOf(rule, messages))}
              />
            )}
            {entry.messages?.map((message) => (
              <Message key={`${message.type} ${message.way} ${message.at}`} message={message} />
            ))}
            {entry.seen && <Seen seen={entry.seen} before={seenBefore(entries, at)} />}
          </li>
        );
      })}
    </ol>
  );
}

type Entry = OutputOf<"GET /orders/:order">["timeline"][number];
type Kept = NonNullable<Entry["messages"]>[number];

/** A message to or from an acquirer or a directory server. */
function Message({ message }: { readonly message: Kept }) {
  const { messages } = useLanguage();
  const { type, way, at, fields, raw, isDerived } = message;
  return (
    <details className="message" data-way={way}>
      <summary>
        {messages.message(type, way)}{" "}
        <small>
          <Time at={at} isExact />
        </small>
      </summary>
      {isDerived && <p className="quiet">{messages.derived}</p>}
      <FieldList fields={fields} />
      {raw !== undefined && (
        <>
          <h3>{messages.raw}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
          <pre className="raw" tabIndex={0}>
            {raw}
          </pre>
        </>
      )}
    </details>
  );
}

/** Marks the fields of the status response that have changed since the previous one. */
function Seen({ seen, before }: { readonly seen: readonly Field[]; before: readonly Field[] }) {
  const { messages } = useLanguage();
  return (
    <details className="message">
      <summary>{messages.sawThen}</summary>
      <FieldList fields={seen} isMarked={(field) => isNews(field, before)} />
    </details>
  );
}

type ListProps = {
  readonly fields: readonly Field[];
  readonly isMarked?: (field: Field) => boolean;
};

export function FieldList({ fields, isMarked }: ListProps) {
  return <Fields rows={fields.map((each) => [each.name, each.value, isMarked?.(each) ?? false])} />;
}
