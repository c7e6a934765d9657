/**
 * Reads a wallet's payment data: a token, which a thread decrypts, or a payload that the merchant
 * has decrypted. The result is a card, or the reason for which the order is declined. The sentences
 * of refusals are fixed, and fields have the wallet's own names, so that no content of the payment
 * data gets to merchants or into logs.
 */
import { createHash } from "node:crypto";
import {
  expiryOf,
  type Opened as OpenedA,
  type Payload as PayloadA,
  readPayload as readPayloadA,
  type Trust as TrustA,
  WalletFault,
  type WalletReason,
} from "@tollgate/protocols/walleta";
import {
  type Opened as OpenedB,
  type Payload as PayloadB,
  readNetworkToken as parseNetworkToken,
  readPayload as readPayloadB,
  type Trust as TrustB,
} from "@tollgate/protocols/walletb";
import type { CardData } from "../orders/events.ts";
import type { Merchant } from "../orders/merchant.ts";
import type { Reason } from "../orders/order.ts";
import { CardNumber } from "../values/card-number.ts";
import { Failure, type FailureCode } from "../values/failure.ts";
import type { Money } from "../values/money.ts";
import { Secret } from "../values/secret.ts";
import type { Clock } from "../values/time.ts";
import { startWorkerThread, ThreadFault } from "../worker-threads/worker-thread.ts";
import type { WalletKey, WalletRoots } from "./wallet-trust.ts";

type SentPaymentData = {
  readonly text: string;
  readonly isEncrypted: boolean;
  readonly merchant: Merchant;
  readonly amount: Money;
  readonly now: number;
  readonly keys: readonly WalletKey[];
};

/** The roots with which tokens are verified, and the thread that opens tokens. */
export type TokenTrust = {
  readonly roots: WalletRoots;
  readonly walletWorker: WalletWorker;
  /** How far the time of walleta's signature may be from now. */
  readonly signingWindowMs: number;
  /** The longest window that an operator can set. */
  readonly signingWindowMaxMs: number;
  readonly allowSandboxSigner: boolean;
};

export type WalletCard = {
  readonly card: CardData;
  readonly holderName: string | undefined;
  /**
   * The authentication; absent if the number is the card's own and the cardholder is not
   * authenticated.
   */
  readonly proof:
    | { readonly eci: string | undefined; readonly cryptogram: Secret<string> }
    | undefined;
  readonly replayIds: readonly ReplayId[];
};

/** The id of the payment data. Payment data with a known id is a replay. */
export type ReplayId = { readonly id: string; readonly keepUntil: number };

export type WalletRefusal = { readonly refusal: Reason };

/**
 * The time that is added to the life of the payment data, because requests wait and the clocks of
 * nodes differ.
 */
const keepLongerMs = 600_000;
/**
 * The life of a decrypted payload. It does not contain its age, and the life of a card would be too
 * long.
 */
const keepPayloadMs = 90 * 86_400_000;

export async function readWalletA(
  sent: SentPaymentData,
  trust: TokenTrust,
): Promise<WalletCard | WalletRefusal | Failure> {
  const read = sent.isEncrypted
    ? await openWalletA(sent, trust)
    : { payload: readPayloadA(sent.text) };
  if (read instanceof Failure || "refusal" in read) return read;
  const { payload, replayId } = read;
  if (payload instanceof WalletFault) {
    return payloadRefusalOf(payload, sent.text, "applicationPrimaryAccountNumber");
  }
  const { minor, currency } = sent.amount;
  if (payload.currencyCode !== currency.numeric) return refuse("wallet_other_amount", "currency");
  if (BigInt(payload.transactionAmount) !== minor) return refuse("wallet_other_amount", "amount");
  if (payload.paymentDataType === "EMV") return refuse("wallet_not_supported", "EMV");
  const { onlinePaymentCryptogram: cryptogram, eciIndicator: eci } = payload;
  const { year, month } = expiryOf(payload);
  // The same cryptogram may arrive as a token and as its payload.
  const ownId = idOfCryptogram(cryptogram, sent);
  return {
    card: cardOf(payload.applicationPrimaryAccountNumber, month, year),
    holderName: payload.cardholderName,
    proof: { eci, cryptogram: new Secret(cryptogram) },
    replayIds: replayId === undefined ? [ownId] : [ownId, replayId],
  };
}

type ReadA = { readonly payload: PayloadA | WalletFault; readonly replayId?: ReplayId };

async function openWalletA(
  { text, keys, now, merchant }: SentPaymentData,
  { walletWorker, signingWindowMs, signingWindowMaxMs, allowSandboxSigner, ...trust }: TokenTrust,
): Promise<ReadA | WalletRefusal | Failure> {
  const identifier = merchant.settings.wallets?.walleta;
  const merchantKeys = keys.flatMap(({ certificate, privateKey }) =>
    certificate === undefined ? [] : [{ certificate, privateKey, ...identifier }],
  );
  const roots = trust.roots.walleta();
  if (merchantKeys.length === 0) return refuse("wallet_not_configured", "walleta: no certificate");
  if (roots.length === 0) return refuse("wallet_not_configured", "walleta: no root");
  const signing = { now, roots, merchantKeys, signingWindowMs, allowSandboxSigner };
  const opened = await walletWorker.walleta(text, signing);
  if (opened instanceof Failure) return opened;
  if ("reason" in opened) return refusalOf(opened);
  const { payload, transactionId, signingTime } = opened;
  // The life of the id does not depend on the present window, because after a longer one is set, a
  // deleted id must not be valid again.
  const keepUntil = signingTime + signingWindowMaxMs + keepLongerMs;
  return { payload, replayId: { id: transactionId, keepUntil } };
}

export async function readWalletB(
  sent: SentPaymentData,
  trust: TokenTrust,
): Promise<WalletCard | WalletRefusal | Failure> {
  const { text, now, merchant, isEncrypted } = sent;
  const payload = isEncrypted ? await openWalletB(sent, trust) : readPayloadB(text, { now });
  if (payload instanceof WalletFault) {
    return payloadRefusalOf(payload, text, "paymentMethodDetails");
  }
  if (payload instanceof Failure || "refusal" in payload) return payload;
  const settings = merchant.settings.wallets?.walletb;
  const ownId = settings?.gatewayMerchantId ?? merchant.login;
  const mustName = isEncrypted && settings?.recipientId.startsWith("gateway:");
  const named = payload.gatewayMerchantId ?? (mustName ? "" : ownId);
  if (named !== ownId) return refuse("wallet_other_merchant");
  const { pan, expirationMonth, expirationYear, cryptogram, eciIndicator: eci } = payload;
  return {
    card: cardOf(pan, expirationMonth, expirationYear),
    holderName: undefined,
    proof: cryptogram === undefined ? undefined : { eci, cryptogram: new Secret(cryptogram) },
    replayIds: [{ id: payload.messageId, keepUntil: payload.messageExpiration + keepLongerMs }],
  };
}

async function openWalletB(
  { text, merchant, keys, now }: SentPaymentData,
  { roots, walletWorker }: TokenTrust,
): Promise<PayloadB | WalletRefusal | Failure> {
  const settings = merchant.settings.wallets?.walletb;
  const rootKeys = roots.walletb();
  if (settings === undefined) return refuse("wallet_not_configured", "walletb: no recipient id");
  if (keys.length === 0) return refuse("wallet_not_configured", "walletb: no key");
  if (rootKeys.length === 0) return refuse("wallet_not_configured", "walletb: no root keys");
  const opened = await walletWorker.walletb(text, {
    now,
    rootKeys,
    recipientId: settings.recipientId,
    recipientKeys: keys.map(({ privateKey }) => privateKey),
    versions: settings.versions ?? ["ECv2"],
  });
  if (opened instanceof Failure) return opened;
  return "reason" in opened ? refusalOf(opened) : opened.payload;
}

/** The merchant has the number and the cryptogram from the networks. Nothing here proves that. */
export function readNetworkToken(sent: SentPaymentData): WalletCard | WalletRefusal {
  const token = parseNetworkToken(sent.text);
  if (token instanceof WalletFault) return refusalOf(token);
  const { number, expirationMonth, expirationYear, cryptogram, eci } = token;
  return {
    card: cardOf(number, expirationMonth, expirationYear),
    holderName: undefined,
    proof: { eci, cryptogram: new Secret(cryptogram) },
    replayIds: [idOfCryptogram(cryptogram, sent)],
  };
}

/** A cryptogram is valid for one payment. */
function idOfCryptogram(cryptogram: string, { now }: Pick<SentPaymentData, "now">): ReplayId {
  const id = createHash("sha256").update(cryptogram, "base64").digest("hex");
  return { id, keepUntil: now + keepPayloadMs };
}

function cardOf(pan: string, month: number, year: number): CardData {
  return {
    number: new CardNumber(pan),
    expiryMonth: String(month).padStart(2, "0"),
    expiryYear: String(year).slice(-2),
    cvv: undefined,
  };
}

export function refuse(code: FailureCode, detail = ""): WalletRefusal {
  return { refusal: { code, detail } };
}

function refusalOf({ reason, field }: Pick<WalletFault, "reason" | "field">): WalletRefusal {
  const [code, phrase] = refusals[reason];
  return refuse(code, field === undefined ? phrase : `${field}: ${phrase}`);
}

/** Each wallet's payload has a member that the other one's lacks. */
function payloadRefusalOf(fault: WalletFault, text: string, member: string): WalletRefusal {
  const isOther = fault.reason === "bad_payload" && !Object.hasOwn(JSON.parse(text), member);
  return isOther ? refuse("wallet_other_type", `there is no ${member}`) : refusalOf(fault);
}

const refusals: Readonly<Record<WalletReason, readonly [code: FailureCode, phrase: string]>> = {
  too_large: ["wallet_refused", "larger than any of the wallet"],
  not_json: ["wallet_refused", "not JSON"],
  malformed_field: ["wallet_refused", "malformed"],
  bad_payload: ["wallet_refused", "missing, or not of its form"],
  bad_root_keys: ["wallet_refused", "the root keys cannot be read"],
  encoded_twice: ["wallet_encoded_twice", "JSON inside a JSON string"],
  wrong_fields: ["wallet_other_type", "other fields than this type has"],
  unknown_version: ["wallet_other_type", "a version that is not taken here"],
  untrusted_root: ["wallet_bad_signature", "signed under no root that is trusted here"],
  bad_signature: [
    "wallet_bad_signature",
    "changed after it was signed, or signed for another recipient",
  ],
  malformed_signature: ["wallet_bad_signature", "the signature is not of the wallet's form"],
  wrong_certificates: ["wallet_bad_signature", "the certificates are not the wallet's"],
  sandbox_signer: ["wallet_bad_signature", "a test token, which is not taken in production"],
  expired_root_key: ["wallet_expired", "the root key that is trusted here has expired"],
  expired_intermediate_key: ["wallet_expired", "the wallet's signing key has expired"],
  expired_certificate: ["wallet_expired", "a certificate was not valid when it was signed"],
  expired_message: ["wallet_expired", "the token has expired"],
  outside_signing_window: ["wallet_expired", "signed too long ago, or in the future"],
  no_merchant_identifier: ["wallet_not_configured", "walleta: no merchant identifier"],
  no_key: ["wallet_not_decrypted", "made for a key that the merchant does not have here"],
  bad_ciphertext: ["wallet_not_decrypted", "made for another merchant identifier, or changed"],
  bad_mac: ["wallet_not_decrypted", "made for none of the merchant's keys"],
};

export type OpeningRequest = { readonly text: string; readonly trust: TrustA | TrustB };
type Fault = Pick<WalletFault, "reason" | "field">;
export type OpeningReply = { readonly tookMs: number } & (
  | { readonly opened: OpenedA | OpenedB }
  | { readonly fault: Fault }
);
type Opening<Opened> = Promise<Opened | Fault | Failure>;

export type WalletWorker = ReturnType<typeof startWalletWorker>;

type Dependencies = {
  readonly clock: Clock;
  readonly observe: (wallet: "walleta" | "walletb", tookMs: number) => void;
  /** Called if the thread ended or hung. The next token starts another one. */
  readonly onLost: (cause: string) => void;
};

/** The limit on waiting tokens, which is about a second's work. */
const inFlightMax = 256;
const replyWithinMs = 5_000;

/**
 * Decrypts tokens in a thread. A request that the thread cannot process now ends with
 * `storage_unavailable`. Nothing has happened to an order then, and the merchant may send it again.
 */
export function startWalletWorker({ clock, observe, onLost }: Dependencies) {
  const file = new URL("./wallet-worker-thread.ts", import.meta.url);
  const thread = startWorkerThread<OpeningRequest, OpeningReply>({
    file,
    inFlightMax,
    replyWithinMs,
    clock,
    onLost,
  });

  return {
    // The reply has the type of the request, because the trust of one wallet never opens a token of
    // the other.
    walleta: (text: string, trust: TrustA) => open(text, trust) as Opening<OpenedA>,
    walletb: (text: string, trust: TrustB) => open(text, trust) as Opening<OpenedB>,
    stop: thread.stop,
  };

  async function open(text: string, trust: TrustA | TrustB) {
    const reply = await thread.ask({ text, trust });
    if (reply instanceof ThreadFault) {
      const detail = reply.detail === "" ? "" : `: ${reply.detail}`;
      return new Failure("storage_unavailable", "", `${causes[reply.kind]}${detail}`);
    }
    observe("recipientId" in trust ? "walletb" : "walleta", reply.tookMs);
    return "opened" in reply ? reply.opened : reply.fault;
  }
}

const causes = {
  overloaded: "too many wallet tokens wait to be decrypted",
  timed_out: "a wallet token took too long to decrypt",
  lost: "the wallet worker was lost",
  stopped: "the gateway stops",
} as const;
