/**
 * The samples and test keys in `vectors/`, typed for the tests, and one example of each message.
 */
import { createHash, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { openEnvelope, readPaResElement, writeEnvelope, writePaResElement } from "./codec.ts";
import {
  type CrRes,
  type PaReq,
  type PaResMessage,
  type PaResOrder,
  type PaResSigner,
  signPaRes,
  ThreeDsFault,
  type VeReq,
  type VeRes,
} from "./index.ts";
import { signatureNamespace } from "./xml-signature.ts";

export type Case = {
  readonly id: string;
  readonly expected: "accept" | "refuse";
  readonly values?: Readonly<Record<string, string>>;
  readonly order: {
    readonly acqBIN: string;
    readonly merID: string;
    readonly pan: string;
  } & Omit<PaResOrder, "acqBin" | "merId" | "lastFour">;
  readonly paRes: string;
  readonly xml: string;
};

export const vectors: { readonly nowMs: number; readonly cases: readonly Case[] } = JSON.parse(
  readText("pares.json"),
);
export const trustedRoot = readText("trusted-root.pem");
export const otherRoot = readText("other-root.pem");

/** The keys in PEM by name. The notice next to them describes them. */
export const keys: Readonly<Record<KeyName, string>> = JSON.parse(readText("keys.json"));
type KeyName =
  | "root"
  | "intermediate"
  | "signer"
  | "signerKey"
  | "oldSigner"
  | "oldSignerKey"
  | "signerOfRoot"
  | "expiredSigner"
  | "expiredIntermediate"
  | "ellipticSigner"
  | "signerBySigner"
  | "plainIntermediate"
  | "signerByPlain";

export const signer: PaResSigner = {
  privateKey: keys.signerKey,
  certificates: [keys.signer, keys.intermediate],
  digest: "sha1",
};
/** The time is 14 November 2026. */
export const trust = { roots: [keys.root], now: 1_794_648_662_000 };

export const paRes: PaResMessage = {
  messageId: "PAReq-1",
  id: "PARes-1",
  merchant: { acqBin: "400001", merId: "SHOP & SONS <1>" },
  purchase: {
    xid: "ChssPU5fYHGCk6S1xtfo+QEjRWc=",
    date: "20261114 09:30:15",
    purchAmount: "1042",
    currency: "978",
    exponent: "2",
  },
  pan: "0000000000000014",
  tx: {
    time: "20261114 09:31:02",
    status: "Y",
    cavv: "AAEESYNFZ4kBI0VniQEjRfoLHAA=",
    eci: "05",
    cavvAlgorithm: "2",
  },
};

export const paReq: PaReq = {
  messageId: "PAReq-1",
  merchant: {
    acqBin: "400001",
    merId: "GW0000000000042",
    name: "Müller & Söhne <Berlin>",
    country: "276",
    url: "https://shop.example/?a=1&b=2",
  },
  purchase: {
    xid: "ChssPU5fYHGCk6S1xtfo+QEjRWc=",
    date: "20261114 09:30:15",
    amount: "10,42 €",
    purchAmount: "1042",
    currency: "978",
    exponent: "2",
    desc: 'Books "and" more',
    recur: { frequency: "28", endRecur: "20271231" },
    install: "12",
  },
  ch: { acctId: "account 1", expiry: "2912" },
};

export const veReq: VeReq = {
  messageId: "VEReq-1",
  pan: "4000010000000014",
  merchant: { acqBin: "400001", merId: "GW0000000000042", password: "secret12" },
  browser: { deviceCategory: "0", accept: "*/*", userAgent: "Browser/1.0" },
};

export const veRes: VeRes = {
  messageId: "VEReq-1",
  ch: { enrolled: "Y", acctId: "account 1" },
  url: "https://acs.example/pareq?x=1&y=2",
  protocols: ["ThreeDSecure"],
};

export const crRes: CrRes = {
  messageId: "CRReq-1",
  cardRanges: [
    { begin: "4000010000000000", end: "4000019999999999", action: "A" },
    { begin: "5000010000000000", end: "5000019999999999", action: "D" },
  ],
  serialNumber: "17",
};

/** Reads a PARes without its signature. */
export function readUnverifiedPaRes(xml: string): PaResMessage | ThreeDsFault {
  const envelope = openEnvelope(xml);
  if (envelope instanceof ThreeDsFault) return envelope;
  const paRes = readPaResElement(envelope.message);
  return paRes instanceof ThreeDsFault ? paRes : { messageId: envelope.messageId, ...paRes };
}

export function writeUnsignedPaRes(message: PaResMessage): string {
  return writeEnvelope(message.messageId, writePaResElement(message));
}

/** Replaces the PARes by any element, with a signature over it in the same form. */
export function signElement(element: string, canonical = element): string {
  const signed = signPaRes(paRes, signer);
  const digest = createHash("sha1").update(canonical).digest("base64");
  const [info = ""] = /<SignedInfo>.*<\/SignedInfo>/s.exec(signed) ?? [];
  const changed = info.replace(/(<DigestValue>)[^<]*/, `$1${digest}`);
  const inForce = changed.replace("<SignedInfo>", `<SignedInfo xmlns="${signatureNamespace}">`);
  const value = sign("sha1", Buffer.from(inForce), keys.signerKey).toString("base64");
  return signed
    .replace(/<PARes .*<\/PARes>/s, () => element)
    .replace(info, () => changed)
    .replace(/(<SignatureValue>)[^<]*/, `$1${value}`);
}

function readText(name: string): string {
  return readFileSync(new URL(`./vectors/${name}`, import.meta.url), "utf8");
}
