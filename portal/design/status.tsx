/**
 * Shows terms of the gateway in the user's language, and the state of an order's money as a
 * coloured label. The label has a text too, because many people cannot see its colour. A term
 * without a translation is shown as the gateway sends it.
 */

import { useMessages } from "../language/language.tsx";
import { statusColours } from "../language/money-states.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";
import { Mark } from "./details.tsx";

export const knownTypes = ["sale", "preauth", "account-verification", "payout"] as const;

export function Status({ status }: { readonly status: string }) {
  const { statuses } = useMessages();
  return <Mark kind={wordIn(statusColours, status)}>{wordIn(statuses, status)}</Mark>;
}

/**
 * Returns the choices of the status filter. Each choice shows the coloured label and its meaning.
 */
export function statusChoices({ statuses, statusMeanings }: Messages) {
  return Object.entries(statuses).map(([value, label]) => ({
    value,
    label,
    shown: <Status status={value} />,
    meaning: wordIn(statusMeanings, value),
  }));
}

/** Shows the type of an order or a transaction in the user's language. */
export function Type({ type }: { readonly type: string }) {
  return wordIn(useMessages().types, type);
}

/** Shows the network and the last four digits of a card. */
export function Card({
  network,
  lastFour,
}: {
  readonly network: string;
  readonly lastFour: string;
}) {
  if (lastFour === "") return null;
  return (
    <>
      <small>{network}</small> ···· {lastFour}
    </>
  );
}
