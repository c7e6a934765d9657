/**
 * The PARes that a browser or a merchant brings. It is believed when the issuer has signed it, and
 * when it is about this very order; otherwise the payment ends.
 */
import {
  matchPaRes,
  type PaRes,
  ThreeDsFault,
  unpackPa,
  verifyPaRes,
} from "@tollgate/protocols/threeds102";
import type { EventOf } from "../../orders/events.ts";
import type { Order } from "../../orders/order.ts";
import type { Clock } from "../../values/time.ts";
import type { Directory } from "../directories/directories.ts";
import type { AuthenticationOutcome, Judge } from "../verdict.ts";
import { merchantOf } from "./ask-enrolment.ts";

type Dependencies = {
  readonly findDirectory: (name: string) => Directory | undefined;
  readonly judge: Judge;
  readonly clock: Clock;
  readonly warn: (order: Order, cause: string) => void;
};

/** What it means for the order; nothing when it is no PARes at all. */
export type ReadPaRes = (order: Order, packed: string) => AuthenticationOutcome | undefined;

export function makeReadPaRes(dependencies: Dependencies): ReadPaRes {
  return (order, packed) => {
    const xml = unpackPa(packed);
    if (xml instanceof ThreeDsFault) return undefined;
    const directory = dependencies.findDirectory(order.transaction.threeds?.directory ?? "");
    const roots = directory?.certificates.paresRoots ?? [];
    const answer = verifyPaRes(xml, { roots, now: dependencies.clock.now() });
    if (answer instanceof ThreeDsFault) return refuse(order, answer.reason);
    const foreign = findForeign(order, answer);
    if (foreign !== "") return refuse(order, `it is about another payment: ${foreign}`);
    const { status, eci, cavv } = answer.tx;
    const isProven = cavv !== undefined || (status !== "Y" && status !== "A");
    if (!isProven) return refuse(order, "it says yes and proves nothing");
    return dependencies.judge(order, { status, eci, value: cavv });
  };

  function findForeign(order: Order, answer: PaRes): string {
    const { amount, threeds } = order.transaction;
    const asked = threeds?.payerRequest;
    if (asked === undefined) return "everything";
    const differing = matchPaRes(answer, {
      ...merchantOf(asked),
      xid: threeds?.transactionId ?? "",
      date: asked.date,
      purchAmount: String(amount.minor),
      currency: amount.currency.numeric,
      exponent: String(amount.currency.exponent),
      lastFour: order.card.lastFour,
    });
    return differing.join(", ");
  }

  function refuse(order: Order, cause: string): EventOf<"authentication_failed"> {
    dependencies.warn(order, `the PARes is refused: ${cause}`);
    const authentication = { status: "NOT_AUTHENTICATED", eci: undefined } as const;
    const reason = { code: "pares_refused", detail: "" } as const;
    return { kind: "authentication_failed", authentication, reason };
  }
}
