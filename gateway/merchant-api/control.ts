/**
 * The control checksum: SHA-1 over the operation's values and the merchant's key, joined without
 * separators. The interface defines it so; because of that weakness every value is checked for its
 * form first. An unknown login and a wrong checksum take the same path and time.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { EntryPoint, Merchant } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import type { ControlTerm, Sent } from "./operation.ts";

const sha1Bytes = 20;

/**
 * Returns undefined when the merchant signed the request. The caller has read the signed fields.
 */
export function checkControl(
  terms: readonly ControlTerm[],
  sent: Sent,
  entryPoint: EntryPoint,
  noteOldKey: (merchant: MerchantId) => void = () => undefined,
): Failure | undefined {
  const { merchant, id } = entryPoint;
  const [first, ...others] = terms;
  const text = textOfAll(first === "{id?}" ? others : terms, sent, entryPoint);
  if (text instanceof Failure) return text;
  const login = sent.get("login") ?? "";
  const sameLogin = login === "" || login === merchant.login;
  const control = controlOf(sent);
  const isSignedWith = (key: Secret<string>) => {
    const isSigned = (signed: string) => timingSafeEqual(sha1(signed + key.reveal()), control);
    return first === "{id?}" ? isSigned(id + text) || isSigned(text) : isSigned(text);
  };
  const { controlKey, oldControlKey } = merchant;
  const isOld = oldControlKey !== undefined && isSignedWith(oldControlKey);
  const isNew = isSignedWith(controlKey);
  if (!sameLogin || !(isNew || isOld)) return new Failure("control_mismatch");
  if (!isNew) noteOldKey(merchant.id);
  return undefined;
}

/**
 * The digest takes the way through text: a digest as a buffer takes memory outside of the heap and
 * twice the time.
 */
function sha1(text: string): Buffer {
  return Buffer.from(hash("sha1", text, "latin1"), "latin1");
}

/** Signs a result for the merchant: it proves that the gateway sent it. */
export function signFor({ controlKey }: Merchant, text: string): string {
  return hash("sha1", text + controlKey.reveal(), "hex");
}

/** Whose key has made the checksum of a result, as it was sent to the merchant. */
export function findSigner(
  { controlKey, oldControlKey }: Merchant,
  text: string,
  control: string,
): "current_key" | "old_key" | undefined {
  const sent = controlOf(new Map([["control", control]]));
  const isBy = (key: Secret<string>) => timingSafeEqual(sha1(text + key.reveal()), sent);
  if (isBy(controlKey)) return "current_key";
  return oldControlKey !== undefined && isBy(oldControlKey) ? "old_key" : undefined;
}

/** An amount without currency, or one that is not valid in its currency. */
export function amountFaults(
  terms: readonly ControlTerm[],
  sent: Sent,
  entryPoint: EntryPoint,
): readonly Failure[] {
  const text = textOfAll(terms, sent, entryPoint);
  return text instanceof Failure ? [text] : [];
}

function textOfAll(
  terms: readonly ControlTerm[],
  sent: Sent,
  entryPoint: EntryPoint,
): string | Failure {
  let text = "";
  for (const term of terms) {
    const part = textOf(term, sent, entryPoint);
    if (part instanceof Failure) return part;
    text += part;
  }
  return text;
}

export function textOf(term: ControlTerm, sent: Sent, entryPoint: EntryPoint): string | Failure {
  if (term === "{id}") return entryPoint.id;
  if (typeof term === "string") return sent.get(term) ?? "";
  if ("minorUnitsOf" in term) return minorUnitsOf(term.minorUnitsOf, sent);

  if ((sent.get(term.moneyIfSent) ?? "") === "") return "";
  const minor = minorUnitsOf(term.moneyIfSent, sent);
  return minor instanceof Failure ? minor : minor + sent.get("currency");
}

function minorUnitsOf(field: string, sent: Sent): string | Failure {
  const code = sent.get("currency") ?? "";
  if (code === "") return new Failure("missing_parameter", "currency");
  const currency = findCurrency(code);
  const money = currency && parseAmount(sent.get(field) ?? "", currency);
  if (money !== undefined) return String(money.minor);
  return new Failure("invalid_parameter", `${field}: more fraction digits than the currency has`);
}

/** Always of the right length: every comparison takes the same time. */
function controlOf(sent: Sent): Buffer {
  const text = sent.get("control") ?? "";
  const control = Buffer.from(text, "hex");
  return text.length === sha1Bytes * 2 && control.length === sha1Bytes
    ? control
    : Buffer.alloc(sha1Bytes);
}
