/** Mints payment tokens of walleta: genuine ones, or ones with exactly the requested defect. */
import { generateKeyPairSync, hash, randomBytes, X509Certificate } from "node:crypto";
import {
  distortToken,
  type Minting,
  merchantIdentifierExtension,
  mintToken,
  type Payload,
  type Version,
  writePayload,
} from "@tollgate/protocols/walleta";
import { Certificate } from "pkijs";
import type { BankContext } from "../bank-context.ts";
import * as field from "../fields.ts";
import { BadRequest } from "../http.ts";
import { eciFor } from "../issuer.ts";
import type { SignerKind, WalletASigners } from "./walleta-certificates.ts";

/** The difference from a genuine token. */
type Defect = {
  readonly what: string;
  readonly signer?: SignerKind;
  readonly minting?: (genuine: UnsignedMinting) => Partial<UnsignedMinting>;
  readonly payload?: (genuine: Payload) => Payload;
  /** Whether the token is changed after it was signed. */
  readonly isTampered?: true;
};

type UnsignedMinting = Omit<Minting, "signer">;

const dayMs = 24 * 3_600_000;

export const walletADefects = {
  "expired": { what: "signed a day earlier", minting: ({ now }) => ({ now: now - dayMs }) },
  "wrong-recipient": {
    what: "encrypted for another key",
    minting: ({ version }) => {
      const pair =
        version === "EC_v1"
          ? generateKeyPairSync("ec", { namedCurve: "P-256" })
          : generateKeyPairSync("rsa", { modulusLength: 2048 });
      return { recipientPublicKey: pair.publicKey };
    },
  },
  "tampered": { what: "changed after it was signed", isTampered: true },
  "wrong-root": {
    what: "signed under another root certificate of the same name",
    signer: "foreign",
  },
  "other-merchant": {
    what: "made for another merchant identifier",
    minting: () => ({ merchantIdentifier: "merchant.another" }),
  },
  "wrong-amount": {
    what: "genuine, but one minor unit more",
    payload: (genuine) => ({ ...genuine, transactionAmount: genuine.transactionAmount + 1 }),
  },
  "wrong-currency": {
    what: "genuine, but in another currency",
    payload: (genuine) => {
      return { ...genuine, currencyCode: genuine.currencyCode === "978" ? "840" : "978" };
    },
  },
  "no-marker": { what: "the signer's certificate lacks its marker extension", signer: "unmarked" },
} satisfies Readonly<Record<string, Defect>>;

export type WalletADefect = keyof typeof walletADefects;

const certificate: field.Field<string> = {
  takes: "a certificate in PEM",
  read(value) {
    try {
      return typeof value === "string" && new X509Certificate(value).publicKey ? value : undefined;
    } catch {
      return undefined;
    }
  },
};

/** The recipient for which tokens are encrypted. */
export const walletARecipientFields = {
  required: { certificate, merchantIdentifier: field.identifier },
  optional: {},
} satisfies field.FieldTable;

export type WalletARecipient = field.FieldValues<typeof walletARecipientFields>;

export const walletAVersions: readonly Version[] = ["EC_v1", "RSA_v1"];

/**
 * The fields of `POST /wallets/walleta`. The recipient defaults to the one that was certified last.
 */
const walletAFields = {
  required: { ...field.cardFields, ...field.paymentFields },
  optional: {
    cardholderName: field.text(/^[^\p{Cc}\p{Cs}]{1,128}$/u, "a name of up to 128 characters"),
    eciIndicator: field.eciIndicator,
    version: field.oneOf(walletAVersions),
    ...walletARecipientFields.required,
    transactionId: field.text(/^[0-9a-f]{64}$/i, "64 hex digits"),
    signingTime: field.timestamp,
    // The keys are the names of the table's own rows, so the type holds.
    defect: field.oneOf(Object.keys(walletADefects) as WalletADefect[]),
  },
} satisfies field.FieldTable;

export type WalletAOptions = field.FieldValues<typeof walletAFields>;

type MintContext = Pick<BankContext, "authenticationValues" | "clock"> & {
  readonly signers: WalletASigners;
  readonly last: WalletARecipient | undefined;
};

export async function mintWalletA(
  body: unknown,
  { signers, last, authenticationValues, clock }: MintContext,
): Promise<string | BadRequest> {
  const options = field.readFields(body, walletAFields);
  if (options instanceof BadRequest) return options;
  const recipient = findRecipient(options, last);
  if (recipient instanceof BadRequest) return recipient;
  const { version } = recipient;
  const { ms: nowMs } = clock.now();
  const { defect: name, signingTime: now = nowMs, transactionId } = options;
  if (name === "other-merchant" && version === "RSA_v1") {
    return new BadRequest("Tokens of RSA_v1 do not depend on the merchant's field.identifier.");
  }
  const defect: Defect | undefined = name && walletADefects[name];
  const payload = makePayload(options, authenticationValues.make(options.pan, "wallet"));
  const ids = transactionId === undefined ? {} : { transactionId };
  const minting = { ...recipient, ...ids, now, random: randomBytes };
  const signer = await signers.find(defect?.signer ?? "own", version, nowMs);
  const token = mintToken(writePayload(defect?.payload?.(payload) ?? payload), {
    ...minting,
    ...defect?.minting?.(minting),
    signer,
  });
  return defect?.isTampered ? distortToken(token, "data") : token;
}

function makePayload(options: WalletAOptions, onlinePaymentCryptogram: string): Payload {
  const { pan, cardholderName, expirationYear, expirationMonth } = options;
  const lastDay = new Date(Date.UTC(expirationYear, expirationMonth, 0));
  // This wallet writes one digit, and none for networks whose ECI is 02.
  const eci = eciFor(pan, "Y");
  const { eciIndicator: indicator = eci === "02" ? undefined : eci.slice(-1) } = options;
  return {
    applicationPrimaryAccountNumber: pan,
    applicationExpirationDate: lastDay.toISOString().slice(2, 10).replaceAll("-", ""),
    currencyCode: options.currency,
    transactionAmount: options.amount,
    ...(cardholderName === undefined ? {} : { cardholderName }),
    deviceManufacturerIdentifier: "050110030273",
    paymentDataType: "3DSecure",
    onlinePaymentCryptogram,
    ...(indicator === undefined ? {} : { eciIndicator: indicator }),
  };
}

export const defaultMerchantIdentifier = "merchant.sandbox";

function findRecipient(
  options: WalletAOptions,
  last: WalletARecipient | undefined,
): Pick<Minting, "recipientPublicKey" | "merchantIdentifier" | "version"> | BadRequest {
  const pem = options.certificate ?? last?.certificate;
  if (pem === undefined) {
    const remedy = 'get a certificate at /wallets/walleta/certificate, or give a "certificate"';
    return new BadRequest(`No recipient is known: ${remedy}.`);
  }
  const { publicKey: recipientPublicKey, raw } = new X509Certificate(pem);
  const { asymmetricKeyDetails, asymmetricKeyType } = recipientPublicKey;
  const isEc = asymmetricKeyDetails?.namedCurve === "prime256v1";
  if (!isEc && asymmetricKeyType !== "rsa") {
    return new BadRequest("The certificate's key fits no version.");
  }
  const keyVersion = isEc ? "EC_v1" : "RSA_v1";
  const { version = keyVersion } = options;
  if (version !== keyVersion) {
    return new BadRequest(`The recipient's key is for ${keyVersion}, not for ${version}.`);
  }
  const merchantIdentifier = options.merchantIdentifier ?? identifyMerchant(raw, last);
  if (merchantIdentifier === undefined) {
    return new BadRequest(
      'The certificate names a merchant by hash only: give "merchantIdentifier".',
    );
  }
  return { recipientPublicKey, merchantIdentifier, version };
}

/**
 * Returns the merchant's identifier. The certificate only contains a hash, which is compared with
 * the known identifiers.
 */
function identifyMerchant(
  certificateDer: Buffer,
  last: WalletARecipient | undefined,
): string | undefined {
  const known = [last?.merchantIdentifier ?? [], defaultMerchantIdentifier].flat();
  const extension = Certificate.fromBER(Uint8Array.from(certificateDer)).extensions?.find(
    ({ extnID }) => extnID === merchantIdentifierExtension,
  );
  if (extension === undefined) return known[0];
  const value = Buffer.from(extension.extnValue.valueBlock.valueHexView);
  const named = value.toString("latin1").slice(-64).toLowerCase();
  return known.find((name) => hash("sha256", name) === named);
}
