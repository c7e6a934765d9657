/** The state of a delivery as a label, and the values of a signature as pieces before the key. */
import { Mark } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { type Delivered, stateOf } from "./delivery-query.ts";

/** The colours of an order's status. */
const colours = {
  due: "processing",
  failing: "declined",
  delivered: "approved",
  stopped: "filtered",
  given_up: "declined",
} as const satisfies Readonly<Record<ReturnType<typeof stateOf>, string>>;

export function DeliveryState({ callback }: { readonly callback: Delivered }) {
  const { callbackStates } = useMessages();
  const state = stateOf(callback);
  return <Mark kind={colours[state]}>{callbackStates[state]}</Mark>;
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
