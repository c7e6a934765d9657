/**
 * Describes a refused request for the portal: its fields, every fault, and the mistake in its
 * checksum. Only listed fields keep their values, and of all others the length. Neither the
 * checksum nor the signature is stored, because a checksum may be right for another request
 * (decision 0062).
 */
import {
  makeBaseString,
  OAuthFault,
  type Parameter,
  parseOAuthHeader,
} from "@tollgate/protocols/oauth1";
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import type { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import { findMistakes, holdsKey } from "./checksum-mistakes.ts";
import { AccessDenied, amountFaults, methodsOf } from "./control.ts";
import { Fault } from "./fields.ts";
import {
  acceptsHmac,
  type CalledParts,
  isSignedByOAuth,
  type Operation,
  type Sent,
  type Version,
} from "./operation.ts";
import { type Call, type RequestOutcome, readBody, readFields } from "./pipeline.ts";
import { type Mistake, type SignedPart, signedParts } from "./signed-parts.ts";

export type RefusedCall = {
  readonly operation: Operation;
  readonly version: Version;
  readonly call: Omit<Call, "form">;
  readonly outcome: RequestOutcome & { readonly entryPoint: EntryPoint };
  readonly services: CalledParts;
  readonly at: Instant;
  readonly from: string;
};

/** Only the length of a hidden value is stored. */
type ShownField = {
  readonly name: string;
  readonly value?: string;
  readonly length: number;
  readonly isDigits?: boolean;
};

export type RefusedDocument = {
  readonly fields: readonly ShownField[];
  readonly faults: readonly string[];
  /** The values that the checksum covers, in its order; absent if OAuth signs the request. */
  readonly parts?: readonly SignedPart[];
  /** Absent if the checksum is right, and empty if no usual mistake explains it. */
  readonly mistakes?: readonly Mistake[];
  readonly check?: string;
  /** The text that the OAuth signature covers, with masked values. */
  readonly base?: string;
};

type DescribeOptions = {
  readonly idsOf: (entryPoint: EntryPoint) => readonly string[];
  readonly otherKeys: (entryPoint: EntryPoint) => Iterable<Secret<string>>;
  readonly baseUrlOf: (port: number) => string;
};

/** A longer amount is not shown, because it may be a card number. */
const amountMax = 11;
/** Fields that are stored with masked card numbers, and their highest length. */
const shownNames: ReadonlyMap<string, number> = new Map([
  ...(["client_orderid", "client-order-id", "enumerate_amounts"] as const).map(upTo(128)),
  ...(["login", "email", "ipaddress", "by-request-sn", "threeDSServerTransID"] as const).map(
    upTo(64),
  ),
  ...(["orderid", "cardrefid"] as const).map(upTo(24)),
  ...(["amount"] as const).map(upTo(amountMax)),
]);
/** Fields whose values are stored if they are one of the permitted words. */
const wordNames: ReadonlySet<string> = new Set([
  ...["currency", "country", "payment_data_type", "recurrent_scenario", "recurrent_initiator"],
  ...["customer_browser_info", "threeDSCompInd", "transaction_channel", "three_ds_preference"],
  ...["sca_exemption"],
]);
/** Fields with URLs. Only the host is stored. */
const urlNames: ReadonlySet<string> = new Set([
  ...["redirect_url", "redirect_success_url", "redirect_fail_url", "server_callback_url"],
  ...["notify_url", "notificationURL", "site_url"],
]);

const [valueMax, nameMax, fieldsMax, originMax, allMax] = [160, 40, 80, 100, 4_000];
const faultsMax = 40;

export function describeRefused(refused: RefusedCall, options: DescribeOptions): RefusedDocument {
  const { call, outcome, version } = refused;
  const { answer, entryPoint } = outcome;
  const own = answer instanceof AccessDenied ? [] : [messageOf(answer)];
  const check = answer instanceof AccessDenied ? { check: answer.check } : {};
  const body = readBody(call);
  if (body instanceof Failure) return { fields: [], faults: own, ...check };
  const { pairs } = body;
  const rewritten = refused.operation.rewrite?.(body.sent) ?? body.sent;
  const sent = rewritten instanceof Failure ? body.sent : rewritten;
  const fields = showFields(pairs, refused.operation, entryPoint);
  const faults = [...own, ...findFaults(refused, sent).map(messageOf)];
  const known = { fields, faults: [...new Set(faults)].slice(0, faultsMax), ...check };
  if (isSignedByOAuth(refused.operation, version)) {
    const base = showBaseString(refused, fields, options);
    return base === undefined ? known : { ...known, base };
  }
  const terms = refused.operation.control;
  const parts = signedParts(terms, sent, entryPoint).map(({ name, value }) => {
    const isAmount = name === "amount" && (sent.get(name) ?? "").length <= amountMax;
    const isMade = name === "{id}" || isAmount;
    const shown = isMade ? value : showValue(refused.operation, name, value, entryPoint);
    return { name, value: shown ?? "…" };
  });
  if (outcome.authenticated) return { ...known, parts };
  const mistakes = findMistakes({
    terms,
    sent,
    raw: new Map(pairs),
    entryPoint,
    otherIds: options.idsOf(entryPoint),
    otherKeys: options.otherKeys(entryPoint),
  });
  const named = mistakes?.map(({ kind, detail }) => ({
    kind,
    detail: detail.length > valueMax ? "" : (showText(detail, entryPoint) ?? ""),
  }));
  return { ...known, parts, ...(named && { mistakes: named }) };
}

/** No encoding changes a placeholder of letters. */
const masked = "MASKED";

/** Returns undefined if the header's form allows no base string. */
function showBaseString(
  { call, outcome: { entryPoint }, operation, version }: RefusedCall,
  fields: readonly ShownField[],
  { baseUrlOf }: DescribeOptions,
): string | undefined {
  const methods = methodsOf(acceptsHmac(operation, version));
  const header = parseOAuthHeader(call.authorization, methods);
  if (header instanceof OAuthFault) return undefined;
  const [path = "", query] = call.target.split("?");
  const show = (text: string, max = 64) =>
    text.length > max ? masked : (showText(text, entryPoint) ?? masked);
  const repeated = new Set(header.parameters.map(([name]) => name));
  const text = makeBaseString(
    {
      method: call.method,
      url: baseUrlOf(call.port) + show(path, 200),
      parameters: [
        ...fields
          .filter(({ name }) => !repeated.has(name))
          .map(({ name, value }): Parameter => [name, value ?? masked]),
        ...[...new URLSearchParams(query)].map(([name]): Parameter => [show(name), masked]),
      ],
    },
    header.parameters.map(([name, value]) => [show(name), show(value)]),
  );
  return text instanceof OAuthFault ? undefined : text.slice(0, allMax);
}

/** Includes faults of fields that were not read because of the first fault. */
function findFaults(
  { operation, version, at, call, outcome, services }: RefusedCall,
  sent: Sent,
): readonly Failure[] {
  const { entryPoint } = outcome;
  const isOAuth = isSignedByOAuth(operation, version);
  const all = Object.entries(operation.request).filter(
    ([name]) => !isOAuth || (name !== "login" && name !== "control"),
  );
  const values: Record<string, unknown> = {};
  const faults = [
    ...readFields(all, sent, entryPoint, values),
    ...amountFaults(operation.control, sent, entryPoint),
  ];
  if (faults.length > 0) return faults;
  const known = all.map(([name]) => name);
  const { serialNumber } = call;
  const context = { entryPoint, serialNumber, receivedAt: at, sent, known, services };
  return operation.rules?.(values, context) ?? [];
}

function messageOf(answer: Failure | { readonly type: string }): string {
  return answer instanceof Failure ? answer.message : answer.type;
}

function upTo(length: number) {
  return (name: string) => [name, length] as const;
}

function showFields(
  pairs: readonly (readonly [name: string, value: string])[],
  operation: Operation,
  entryPoint: EntryPoint,
): readonly ShownField[] {
  let room = allMax;
  return pairs.slice(0, fieldsMax).map(([name, value]) => {
    const known = findField(operation, name);
    const hidden = { name: known ? name : showName(name, entryPoint), ...aboutOf(value) };
    const shown = known && room > 0 ? showValue(operation, known, value, entryPoint) : undefined;
    room -= hidden.name.length + (shown?.length ?? 0);
    return shown === undefined ? hidden : { ...hidden, value: shown };
  });
}

/** Operations that rewrite their fields take some names with hyphens too. */
function findField({ request, rewrite }: Operation, name: string): string | undefined {
  const spellings = rewrite === undefined ? [name] : [name, name.replaceAll("-", "_")];
  return spellings.find((each) => Object.hasOwn(request, each));
}

function aboutOf(value: string) {
  const isDigits = /^\d+$/.test(value);
  return { length: value.length, ...(isDigits && { isDigits }) };
}

/** An unknown name is not stored, because it may be anything, even a card number. */
function showName(name: string, entryPoint: EntryPoint): string {
  const isName = /^[A-Za-z][\w.[\]-]*$/.test(name) && name.length <= nameMax;
  return isName ? (showText(name, entryPoint) ?? "?") : "?";
}

/** A token or a document in the wrong field is not stored either. */
function showValue(
  { request }: Operation,
  name: string,
  value: string,
  entryPoint: EntryPoint,
): string | undefined {
  if (urlNames.has(name)) {
    const { origin = "", href = "" } = URL.parse(value) ?? {};
    const isHttp = origin.startsWith("http") && origin.length <= originMax;
    return isHttp
      ? showText(href === `${origin}/` ? origin : `${origin}/…`, entryPoint)
      : undefined;
  }
  if (wordNames.has(name)) {
    const isWord = !(request[name]?.read(value.trim()) instanceof Fault);
    return isWord ? value.trim() : undefined;
  }
  const isPlain = value.length <= (shownNames.get(name) ?? -1) && !/["{}<>]/.test(value);
  return isPlain ? showText(value, entryPoint) : undefined;
}

/** Returns undefined for a text that contains the merchant's key. */
function showText(text: string, { merchant }: EntryPoint): string | undefined {
  if (holdsKey(merchant, text)) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: PostgreSQL takes no NUL in JSON
  return shorten(maskCardNumbers(text).replace(/[\u0000-\u001f\u007f]/g, "·"));
}

function shorten(text: string): string {
  return text.length > valueMax
    ? `${text.slice(0, valueMax).toWellFormed()}…`
    : text.toWellFormed();
}
