/**
 * The gateway's words in the user's language, and the status of an order as a coloured label. The
 * label has the word too: colour alone is lost on many. A word that this portal does not know is
 * shown as it is.
 */
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/timeline.ts";

type StatusProps = {
  readonly status: string;
  /** The stage, where there is room for it. */
  readonly detail?: string;
};

/** In the order in which filters offer them. */
export const knownStatuses = ["approved", "declined", "filtered", "error", "processing"] as const;
export const knownTypes = ["sale", "preauth", "account-verification"] as const;

export function Status({ status, detail = "" }: StatusProps) {
  const { statuses } = useMessages();
  return (
    <span className="status" data-status={status}>
      <span className="dot" aria-hidden="true" />
      {wordIn(statuses, status)}
      {detail !== "" && <small>{detail}</small>}
    </span>
  );
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
