/**
 * Shows terms of the gateway in the user's language, and the state of an order's money as a
 * coloured label with a text, because many people cannot see its colour. A term without a
 * translation is shown as the gateway sends it.
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

export function statusChoices({ statuses, statusMeanings }: Messages) {
  return Object.entries(statuses).map(([value, label]) => ({
    value,
    label,
    shown: <Status status={value} />,
    meaning: wordIn(statusMeanings, value),
  }));
}

export function Type({ type }: { readonly type: string }) {
  return wordIn(useMessages().types, type);
}

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
