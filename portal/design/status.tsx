/**
 * The gateway's words in the user's language, and the state of an order's money as a coloured
 * label. The label has the word too: colour alone is lost on many. A word that this portal does not
 * know is shown as it is.
 */

import { useMessages } from "../language/language.tsx";
import { statusColours } from "../language/money-states.ts";
import { wordIn } from "../language/rows.ts";
import type { Messages } from "../language/texts.ts";
import { Mark } from "./details.tsx";

export const knownTypes = ["sale", "preauth", "account-verification"] as const;

export function Status({ status }: { readonly status: string }) {
  const { statuses } = useMessages();
  return <Mark kind={wordIn(statusColours, status)}>{wordIn(statuses, status)}</Mark>;
}

/** The choices of the status filter, which are a legend of the labels too. */
export function statusChoices({ statuses, statusMeanings }: Messages) {
  return Object.entries(statuses).map(([value, label]) => ({
    value,
    label,
    shown: <Status status={value} />,
    meaning: wordIn(statusMeanings, value),
  }));
}

/** What kind of payment an order or a transaction is. */
export function Type({ type }: { readonly type: string }) {
  return wordIn(useMessages().types, type);
}

/** Four digits of a card, as they stand on it. */
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
