/** An order's charge as the acquirer is told of it. A wallet's proof leaves its secret here. */
import type { CardData } from "../orders/effect-handler.ts";
import type { ChargeKind, Order, Transaction, TransactionKind } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import type { Acquirer, AuthorizationRequest, ChargedCard } from "./acquirer.ts";

export type AcquirerOf = (order: Order) => Acquirer | undefined;
/** Out of the vault; nothing when it is no longer there. */
export type FindCard = (order: Order) => Promise<ChargedCard | undefined>;

/** Nothing when the transaction is no charge, or may not have been sent at all. */
export function authorizationRequestOf(
  { transaction, purchase }: Order,
  card: ChargedCard,
  { cvv, cryptogram }: Partial<Pick<CardData, "cvv" | "cryptogram">> = {},
): AuthorizationRequest | undefined {
  const { kind, identifiers, amount, authentication } = transaction;
  if (identifiers === undefined || !isCharge(kind)) return undefined;
  const proof = authentication && {
    eci: authentication.eci,
    value: cryptogram?.reveal() ?? authentication.value,
  };
  const { credential, wallet } = purchase;
  const paid = wallet?.isDevice === true ? { ...card, isDevice: true as const } : card;
  return { kind, identifiers, amount, card: paid, cvv, authentication: proof, credential };
}

/** The charge that a capture or a return is about. */
export function originalOf(order: Order): Original | undefined {
  const { kind, identifiers, answer } = initialOf(order);
  if (identifiers === undefined || !isCharge(kind)) return undefined;
  const { approvalCode, networkId } = answer ?? {};
  return { kind, identifiers, approvalCode, networkId };
}

type Original = {
  readonly kind: ChargeKind;
  readonly identifiers: NonNullable<Transaction["identifiers"]>;
  readonly approvalCode: string | undefined;
  readonly networkId: string | undefined;
};

function isCharge(kind: TransactionKind): kind is ChargeKind {
  return kind === "sale" || kind === "preauth" || kind === "account-verification";
}
