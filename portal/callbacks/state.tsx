/** Shows a callback's state, the result of an attempt, and the values that a signature covers. */
import type { ReactNode } from "react";
import { Mark, Time } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import type { OutputOf } from "../shell/call.ts";
import { type Delivered, resultOf, stateOf } from "./delivery-query.ts";

/** For each state of a callback, the order status whose colour it takes. */
const colours = {
  due: "processing",
  failing: "declined",
  delivered: "approved",
  stopped: "filtered",
  given_up: "declined",
} as const satisfies Readonly<Record<ReturnType<typeof stateOf>, string>>;

export function DeliveryState({ callback }: { readonly callback: Delivered }) {
  return <StateMark state={stateOf(callback)} />;
}

export function StateMark({ state = "" }: { readonly state: string | undefined }) {
  const { callbackStates } = useMessages();
  const kinds: Readonly<Record<string, string>> = colours;
  return <Mark kind={kinds[state] ?? "off"}>{wordIn(callbackStates, state)}</Mark>;
}

type AttemptProps = {
  readonly attempt: OutputOf<"GET /orders/:order">["callbacks"][number]["attempts"][number];
  readonly isOpen?: boolean;
  readonly withAddress?: boolean;
  readonly children?: ReactNode;
};

export function Attempt({ attempt, isOpen = false, withAddress = false, children }: AttemptProps) {
  const messages = useMessages();
  const { at, method, ms, url, body, answer } = attempt;
  const { text, isFailed } = resultOf(attempt);
  const parts = [
    [messages.address, withAddress ? url : ""],
    [messages.body, body],
    [messages.answer, answer === "" ? "∅" : (answer ?? "")],
  ] as const;
  const shown = parts.filter(([, part]) => part !== "");
  return (
    <details open={isOpen} data-failed={isFailed || undefined}>
      <summary>
        <Time at={at} /> · {method} · <b>{text}</b> · {ms} ms
      </summary>
      {shown.map(([name, part]) => (
        <section key={name}>
          <h3>{name}</h3>
          <pre>{part}</pre>
        </section>
      ))}
      {children}
    </details>
  );
}

type Part = { readonly name: string; readonly value: string };

/** The text that a signature covers ends with a key, which the portal never gets. */
export function SignedParts({ parts }: { readonly parts: readonly Part[] }) {
  const messages = useMessages();
  const labels: Readonly<Record<string, string>> = {
    "{id}": messages.pathId,
    "amount": `amount, ${messages.minorUnits}`,
  };
  return (
    <ol className="pieces">
      {parts.map(({ name, value }) => (
        <li key={name}>
          <small>{labels[name] ?? name}</small>
          <code>{value === "" ? "∅" : value}</code>
        </li>
      ))}
      <li className="key">
        <small>{messages.theKey}</small>
        <code>••••••••</code>
      </li>
    </ol>
  );
}
