/**
 * Everything that happened to the order, the first step on top: when, what, the facts and messages
 * that came with it, what the merchant saw from then on, and the attempts to tell it by a callback.
 * The time since the step before shows where an order has waited.
 */
import { useLanguage } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import { Message, Seen } from "./message.tsx";

type Detail = OutputOf<"GET /orders/:order">;
type Entry = Detail["timeline"][number];

export function Timeline({ detail }: { readonly detail: Detail }) {
  const { showTime, messages } = useLanguage();
  const attempts = detail.callbacks.flatMap(({ attempts: own }) =>
    own.map(({ at, status, failure, url, ms }): Entry => {
      const answer = String(status ?? failure ?? "");
      return {
        at,
        version: 0,
        event: messages.attemptMade(answer),
        // What the address carries is shown with the callback.
        facts: { url: url.split("?", 1).join(), ms: String(ms) },
      };
    }),
  );
  const entries = [...detail.timeline, ...attempts].toSorted((one, other) => one.at - other.at);
  return (
    <ol className="timeline">
      {entries.map((entry, at) => {
        const before = entries[at - 1];
        return (
          <li key={`${entry.version} ${entry.event} ${entry.at}`}>
            <div className="event">
              <b>{wordsOf(entry.event)}</b>
              <span className="space" />
              {before && <small>{gapOf(entry.at - before.at)}</small>}
              <time dateTime={new Date(entry.at).toISOString()}>{showTime(entry.at)}</time>
            </div>
            <Facts facts={entry.facts} />
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

function seenBefore(entries: readonly Entry[], at: number) {
  return entries.slice(0, at).findLast(({ seen }) => seen !== undefined)?.seen ?? [];
}

function Facts({ facts }: { readonly facts: Entry["facts"] }) {
  const entries = Object.entries(facts);
  if (entries.length === 0) return null;
  return (
    <dl className="event-facts">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** `charge_answered` as people read it. */
function wordsOf(event: string): string {
  const words = event.replaceAll("_", " ").replace(/\b3ds\b/, "3-D Secure");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function gapOf(ms: number): string {
  if (ms < 1_000) return `+${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `+${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `+${Math.round(ms / 60_000)} min`;
  return `+${Math.round(ms / 3_600_000)} h`;
}
