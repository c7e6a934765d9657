/**
 * Everything that happened to the order, the first step on top: when, what, the facts and messages
 * that came with it, what the merchant saw from then on, and the attempts to tell it by a callback.
 * The time since the step before shows where an order has waited.
 */
import { wordIn } from "../design/status.tsx";
import type { Messages } from "../language/english.ts";
import { useConfigurationMessages, useLanguage } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import { Message, Seen } from "./message.tsx";

type Detail = OutputOf<"GET /orders/:order">;
type Entry = Detail["timeline"][number];

type Shown = Pick<Entry, "at" | "messages" | "seen" | "rules"> & {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
};

export function Timeline({ detail }: { readonly detail: Detail }) {
  const { showTime, messages } = useLanguage();
  const entries = [
    ...detail.timeline.map((entry) => showEntry(entry, messages)),
    ...attemptsOf(detail, messages),
  ].toSorted((one, other) => one.at - other.at);
  return (
    <ol className="timeline">
      {entries.map((entry, at) => {
        const before = entries[at - 1];
        return (
          <li key={`${entry.title} ${entry.at}`}>
            <div className="event">
              <b>{entry.title}</b>
              <span className="space" />
              {before && <small>{gapOf(entry.at - before.at)}</small>}
              <time dateTime={new Date(entry.at).toISOString()}>{showTime(entry.at)}</time>
            </div>
            <Facts facts={entry.facts} />
            {entry.rules?.map((rule) => (
              <Rule key={`${rule.kind} ${rule.scope} ${rule.facts}`} rule={rule} />
            ))}
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

function showEntry({ event, facts, ...entry }: Entry, messages: Messages): Shown {
  // The table of facts has every name that the gateway sends.
  const given = Object.entries(facts) as [keyof Entry["facts"], string][];
  return {
    ...entry,
    title: messages.events[event],
    facts: given.map(([name, value]) => [
      messages.factNames[name],
      showFact(name, value, messages),
    ]),
  };
}

function showFact(name: keyof Entry["facts"], value: string, messages: Messages): string {
  if (name === "reason code") return messages.reasonOf(value);
  if (name === "gate choice") return messages.choiceOf(value);
  if (name === "cause") return wordIn(messages.causes, value);
  if (name === "request operation") return wordIn(messages.followUps, value);
  if (name === "authentication status") return wordIn(messages.threedsNames, value);
  return value;
}

function attemptsOf({ callbacks }: Detail, messages: Messages): readonly Shown[] {
  const { address, duration } = messages.factNames;
  return callbacks.flatMap(({ attempts }) =>
    attempts.map(({ at, status, failure, url, ms }) => ({
      at,
      title: messages.attemptMade(String(status ?? failure ?? "")),
      // What the address carries is shown with the callback.
      facts: [
        [address, url.split("?", 1).join()],
        [duration, `${ms} ms`],
      ],
    })),
  );
}

/** A rule of screening that has fired, or could not tell. */
function Rule({ rule }: { readonly rule: NonNullable<Entry["rules"]>[number] }) {
  const messages = useConfigurationMessages();
  const { kind, scope, action, missing, facts } = rule;
  const did =
    action === undefined ? messages.ruleMissing(missing ?? "") : wordIn(messages.choices, action);
  const name = `${wordIn(messages.ruleKinds, kind)} (${messages.ruleScopes[scope]})`;
  return <Facts facts={[[name, `${did} ${facts}`.trim()]]} />;
}

function seenBefore(entries: readonly Shown[], at: number) {
  return entries.slice(0, at).findLast(({ seen }) => seen !== undefined)?.seen ?? [];
}

function Facts({ facts }: Pick<Shown, "facts">) {
  if (facts.length === 0) return null;
  return (
    <dl className="event-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function gapOf(ms: number): string {
  if (ms < 1_000) return `+${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `+${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `+${Math.round(ms / 60_000)} min`;
  return `+${Math.round(ms / 3_600_000)} h`;
}
