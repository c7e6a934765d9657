/**
 * The timeline of the order, the first step on top. Each step has its time, its facts and messages,
 * what the merchant sees since then, and the attempts to deliver a callback. The time since the
 * previous step shows where an order has waited.
 */
import { Fields, Time } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { gapOf } from "../language/times.ts";
import { useUser } from "../shell/session.ts";
import { Link } from "../shell/url.tsx";
import { Message, Seen } from "./message.tsx";
import { type OrderDetail, ruleOf, seenBefore, timelineOf } from "./order-texts.ts";

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
