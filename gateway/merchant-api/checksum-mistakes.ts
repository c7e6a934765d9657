/**
 * Finds the mistake in a wrong checksum, for refused requests and the checksum debugger, by trying
 * the usual mistakes with the merchant's keys. No finding contains a key or a checksum. It is an
 * oracle only for an attacker with a checksum that was already made with the key (decision 0062).
 */
import { createHmac, hash } from "node:crypto";
import type { EntryPoint, Merchant } from "../orders/merchant.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Secret } from "../values/secret.ts";
import type { ControlTerm, Operation, Sent } from "./operation.ts";
import {
  amountVariants,
  type Known,
  type Mistake,
  type MistakeKind,
  type SignedPart,
  signedParts,
  variantsOf,
} from "./signed-parts.ts";

type CheckedRequest = {
  readonly terms: readonly ControlTerm[];
  readonly sent: Sent;
  readonly raw: Sent;
  readonly entryPoint: EntryPoint;
  readonly otherIds: readonly string[];
  /** Other merchants' keys, for a request that was sent. The reply never names these merchants. */
  readonly otherKeys: Iterable<Secret<string>>;
};

/** Returns undefined for a right checksum, and an empty list if no usual mistake explains it. */
export function findMistakes(request: CheckedRequest): readonly Mistake[] | undefined {
  const { sent, entryPoint, terms } = request;
  const { merchant } = entryPoint;
  const control = sent.get("control") ?? "";
  if (holdsKey(merchant, control)) return [{ kind: "key_as_control", detail: "" }];
  const isSent = makeIsSent(control);
  const parts = signedParts(terms, sent, entryPoint);
  const own = keysOf(merchant);
  const signings = [parts, ...(terms[0] === "{id?}" ? [parts.slice(1)] : [])];
  if (signings.some((each) => own.some((key) => isSent(sha1(join(each) + key))))) {
    return unlessAccepted(sent, entryPoint);
  }
  const known = { ...request, login: merchant.login };
  for (const key of own) {
    const found = findWithKey(parts, known, key, isSent);
    if (found !== undefined) return found;
  }
  for (const key of request.otherKeys) {
    if (isSent(sha1(join(parts) + key.reveal()))) return [{ kind: "other_key", detail: "" }];
  }
  return [];
}

/** The checksum is right, so another rule has refused the request. */
function unlessAccepted(sent: Sent, { merchant, endpoints }: EntryPoint) {
  const login = sent.get("login") ?? "";
  if (login !== "" && login !== merchant.login) return [mistake("other_login")];
  return endpoints.some(({ settings }) => settings.oauthOnly) ? [mistake("oauth_only")] : undefined;
}

/** A request that contains the key itself is shown to no one. */
export function holdsKey(merchant: Merchant, text: string): boolean {
  const lower = text.toLowerCase();
  return keysOf(merchant).some((key) => lower.includes(key.toLowerCase()));
}

function keysOf({ controlKey, oldControlKey }: Merchant): readonly string[] {
  const keys = oldControlKey === undefined ? [controlKey] : [controlKey, oldControlKey];
  return keys.map((key) => key.reveal());
}

type IsSent = (digest: Digest) => boolean;
type Digest = { readonly hex: string };

function findWithKey(
  parts: readonly SignedPart[],
  known: Known,
  key: string,
  isSent: IsSent,
): readonly Mistake[] | undefined {
  for (const variant of variantsOf(parts, known)) {
    if (isSent(sha1(join(variant.parts) + key))) return variant.mistakes;
  }
  const plain = { mistakes: [], parts };
  for (const variant of [plain, ...amountVariants(parts, known.sent)]) {
    const found = digestsOf(variant.parts, key).find(([, , digest]) => isSent(digest()));
    if (found !== undefined) return [...variant.mistakes, mistake(found[0], found[1])];
  }
  return undefined;
}

type Trial = readonly [kind: MistakeKind, detail: string, digest: () => Digest];

/** Returns digests with the key in another position, other bytes or another hash function. */
function digestsOf(parts: readonly SignedPart[], key: string): readonly Trial[] {
  const text = join(parts);
  const values = parts.map(({ value }) => value);
  const all = text + key;
  return [
    ["key_first", "", () => sha1(key + text)],
    ["no_key", "", () => sha1(text)],
    ["key_form", "upper case", () => sha1(text + key.toUpperCase())],
    ["key_form", "lower case", () => sha1(text + key.toLowerCase())],
    ["key_form", "no hyphens", () => sha1(text + key.replaceAll("-", ""))],
    ["key_form", "quotes", () => sha1(`${text}"${key}"`)],
    ["key_form", "sha1", () => sha1(text + sha1(key).hex)],
    ["line_end", "\\n", () => sha1(`${all}\n`)],
    ["line_end", "\\r\\n", () => sha1(`${all}\r\n`)],
    ["line_end", "space", () => sha1(`${all} `)],
    ["line_end", "\\n", () => sha1(values.map((value) => `${value}\n`).join("") + key)],
    ["latin1", "", () => ({ hex: hash("sha1", Buffer.from(all, "latin1"), "hex") })],
    ["latin1", "utf-16", () => ({ hex: hash("sha1", Buffer.from(all, "utf16le"), "hex") })],
    ["digest", "MD5", () => ({ hex: hash("md5", all, "hex") })],
    ["digest", "SHA-256", () => ({ hex: hash("sha256", all, "hex") })],
    ["digest", "SHA-512", () => ({ hex: hash("sha512", all, "hex") })],
    ["digest", "HMAC-SHA1", () => ({ hex: createHmac("sha1", key).update(text).digest("hex") })],
    [
      "digest",
      "HMAC-SHA256",
      () => ({ hex: createHmac("sha256", key).update(text).digest("hex") }),
    ],
    ["digest", "SHA-1 twice", () => sha1(sha1(all).hex)],
    ["base64", "", () => ({ hex: `base64:${hash("sha1", all, "base64")}` })],
    ...[",", ";", ":", "|", "&", "-", "+", " "].map(
      (mark): Trial => ["separator", mark, () => sha1([...values, key].join(mark))],
    ),
  ];
}

/** A longer digest may have been shortened to the length of a checksum. */
function makeIsSent(control: string): IsSent {
  const wanted = control.toLowerCase();
  const isCut = control.length === 40;
  return ({ hex }) => {
    if (hex.startsWith("base64:")) return hex.slice(7) === control;
    return hex === wanted || (isCut && hex.slice(0, 40) === wanted);
  };
}

function sha1(text: string): Digest {
  return { hex: hash("sha1", text, "hex") };
}

function join(parts: readonly SignedPart[]): string {
  return parts.map(({ value }) => value).join("");
}

function mistake(kind: MistakeKind, detail = ""): Mistake {
  return { kind, detail };
}

/** The limit on keys of other merchants that are tried with a wrong checksum. */
const otherKeysMax = 500;

type KnownKeys = {
  readonly merchants: readonly Merchant[];
  /** Endpoints by the id in the path. */
  readonly endpointById: ReadonlyMap<string, EntryPoint>;
  readonly groupById: ReadonlyMap<string, EntryPoint>;
};

export function otherIdsOf(
  { endpointById, groupById }: KnownKeys,
  { id, merchant }: EntryPoint,
): readonly string[] {
  const all = [...groupById.values(), ...endpointById.values()];
  const own = all.filter((each) => each.merchant.id === merchant.id && each.id !== id);
  return own.map((each) => each.id);
}

export function otherKeysOf(
  { merchants }: KnownKeys,
  { merchant }: EntryPoint,
): readonly Secret<string>[] {
  const others = merchants.filter(({ id }) => id !== merchant.id);
  return others.slice(0, otherKeysMax).map(({ controlKey }) => controlKey);
}

type PastedRequest = {
  readonly endpoint: string;
  readonly operation: string;
  readonly fields: ReadonlyMap<string, string>;
};

/** Tries only the merchant's own keys: it must not reveal whose key made a checksum. */
export function makeChecksumDebugger(
  operations: readonly Pick<Operation, "name" | "control">[],
  known: () => KnownKeys,
) {
  const signed = operations.filter(({ control }) => control.length > 0);
  return {
    operations: signed.map(({ name, control }) => ({ name, formula: control.flatMap(namesOf) })),
    /** Returns undefined for an endpoint or operation that the merchant does not have. */
    attempt({ endpoint, operation: name, fields }: PastedRequest, merchantId?: MerchantId) {
      const { endpointById, groupById } = known();
      const entryPoint = endpointById.get(endpoint) ?? groupById.get(endpoint);
      const operation = signed.find((each) => each.name === name);
      if (entryPoint === undefined || operation === undefined) return undefined;
      if (merchantId !== undefined && entryPoint.merchant.id !== merchantId) return undefined;
      const sent = new Map([...fields].map(([field, value]) => [field, value.trim()]));
      const terms = operation.control;
      const others = { otherIds: otherIdsOf(known(), entryPoint), otherKeys: [] };
      const mistakes = findMistakes({ terms, sent, raw: fields, entryPoint, ...others });
      return {
        parts: signedParts(terms, sent, entryPoint),
        matches: mistakes === undefined,
        mistakes: mistakes ?? [],
      };
    },
  };
}

function namesOf(term: ControlTerm): readonly string[] {
  if (typeof term === "string") return [term === "{id?}" ? "{id}" : term];
  return "minorUnitsOf" in term ? [term.minorUnitsOf] : [term.moneyIfSent, "currency"];
}
