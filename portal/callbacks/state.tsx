/** The state of a delivery as a label, and the values of a signature as pieces before the key. */
import { useMessages } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";

type State = OutputOf<"GET /callbacks">["callbacks"][number]["state"];

/** The colours of an order's status. */
const colours = {
  due: "processing",
  delivered: "approved",
  stopped: "filtered",
  given_up: "declined",
} as const satisfies Readonly<Record<State, string>>;

export function DeliveryState({ state }: { readonly state: State }) {
  const { callbackStates } = useMessages();
  return (
    <span className="status" data-status={colours[state]}>
      <span className="dot" aria-hidden="true" />
      {callbackStates[state]}
    </span>
  );
}

type Part = { readonly name: string; readonly value: string };

/** The key follows the values and is never known here. */
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
