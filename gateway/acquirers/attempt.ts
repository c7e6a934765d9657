/** An order's charge as the acquirer is told of it. A wallet's proof leaves its secret here. */
import type { CardInHand } from "../orders/doer.ts";
import { initialOf } from "../orders/family.ts";
import type { ChargeKind, Order, Transaction, TransactionKind } from "../orders/order.ts";
import type { Acquirer, Attempt, ChargedCard } from "./acquirer.ts";

export type AcquirerOf = (order: Order) => Acquirer | undefined;
/** Out of the vault; nothing when it is no longer there. */
export type FindCard = (order: Order) => Promise<ChargedCard | undefined>;

/** Nothing when the transaction is no charge, or may not have been sent at all. */
export function attemptOf(
  { transaction, purchase }: Order,
  card: ChargedCard,
  { cvv, cryptogram }: Partial<Pick<CardInHand, "cvv" | "cryptogram">> = {},
): Attempt | undefined {
  const { kind, charge, amount, authentication } = transaction;
  if (charge === undefined || !isCharge(kind)) return undefined;
  const proof = authentication && {
    eci: authentication.eci,
    value: cryptogram?.reveal() ?? authentication.value,
  };
  const { credential, wallet } = purchase;
  const paid = wallet?.isDevice === true ? { ...card, isDevice: true as const } : card;
  return { kind, charge, amount, card: paid, cvv, authentication: proof, credential };
}

/** The charge that a capture or a return is about. */
export function originalOf(order: Order): Original | undefined {
  const { kind, charge, answer } = initialOf(order);
  if (charge === undefined || !isCharge(kind)) return undefined;
  const { approvalCode, networkId } = answer ?? {};
  return { kind, charge, approvalCode, networkId };
}

type Original = {
  readonly kind: ChargeKind;
  readonly charge: NonNullable<Transaction["charge"]>;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
};

function isCharge(kind: TransactionKind): kind is ChargeKind {
  return kind === "sale" || kind === "preauth" || kind === "account-verification";
}
