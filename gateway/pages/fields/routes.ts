/**
 * The routes of hosted fields (decision 0100): the script that a shop's page loads, the documents
 * of the fields, and the tokenization, to which only these documents may post.
 */
import type { HostedFields } from "../../engine/hosted-fields.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../../http/router.ts";
import type { Guarded } from "../../http/server.ts";
import type { CardData } from "../../orders/events.ts";
import { type EntryPoint, fieldOriginsOf } from "../../orders/merchant.ts";
import type { CardTries } from "../../screening/page-tries.ts";
import { CardNumber, isExpired, isLuhnValid, splitExpiry } from "../../values/card-number.ts";
import { Failure } from "../../values/failure.ts";
import { Secret } from "../../values/secret.ts";
import type { Clock } from "../../values/time.ts";
import { assetReply, makeFieldAssets } from "../payment/assets.ts";
import {
  type FieldError,
  fieldErrors,
  fieldReply,
  fieldTypes,
  tokenizePath,
} from "./field-page.ts";

export type HostedFieldsOptions = {
  readonly pathWord: string;
  readonly findEntryPoint: (id: string) => EntryPoint | undefined;
  readonly hostedFields: Guarded<Pick<HostedFields, "isTicket" | "discard" | "tokenize">>;
  readonly tries: Guarded<Pick<CardTries, "check">>;
  readonly addressOf: (request: HttpRequest) => string;
  /** Returns whether too many posts came from one client. */
  readonly isTooFast: (request: HttpRequest) => boolean;
  readonly clock: Pick<Clock, "now">;
};

const versions = ["v1", "latest"] as const;
const folders = ["/sdk/hosted-fields", "/assets/libs/hosted-fields"];
const bodyBytesMax = 4096;

export function hostedFieldsRoutes(options: HostedFieldsOptions): readonly HttpRoute[] {
  const { pathWord, findEntryPoint, hostedFields, tries, clock } = options;
  const assets = makeFieldAssets();
  const files = new Map([assets.script, assets.style].map((asset) => [asset.name, asset]));

  /** Other words than the gateway's own name another gateway, whose script this is not. */
  async function showScript(version: (typeof versions)[number], request: HttpRequest) {
    const segment = URL.parse(request.url, "http://localhost")?.searchParams.get("segment");
    if (segment !== null && segment !== undefined && segment !== pathWord) return notFound;
    const reply = assetReply(assets.sdk, request);
    return version === "latest" ? reply : { ...reply, headers: { ...reply.headers, ...forEver } };
  }

  async function showFile(request: HttpRequest): Promise<HttpReply> {
    const asset = files.get(request.params[0] ?? "");
    return asset === undefined ? notFound : assetReply(asset, request);
  }

  async function showField(request: HttpRequest): Promise<HttpReply> {
    const [endpoint = "", wanted] = request.params;
    const type = fieldTypes.find((each) => each === wanted);
    if (type === undefined) return notFound;
    const entryPoint = findEntryPoint(endpoint);
    const origins = entryPoint === undefined ? [] : fieldOriginsOf(entryPoint);
    return fieldReply({ type, endpoint, origins, pathWord }, assets, request);
  }

  async function tokenize(request: HttpRequest): Promise<HttpReply> {
    if (!isSameOrigin(request)) return refuse(4001, 403);
    if (options.isTooFast(request)) return refuse(5003, 429);
    const asked = readAsked(request.body);
    if (asked === undefined) return refuse(4001);
    const { ticket, endpoint } = asked;
    const [id = ""] = ticket.split(".");
    const entryPoint = findEntryPoint(id);
    if (entryPoint === undefined || fieldOriginsOf(entryPoint).length === 0) return refuse(4003);
    const spend = async (code: FieldError) => {
      const spent = await hostedFields.discard(entryPoint, ticket);
      return spent instanceof Failure ? refuse(5000, 503) : refuse(code);
    };
    if (endpoint !== id) return spend(4005);
    const isTicket = await hostedFields.isTicket(entryPoint, ticket);
    if (isTicket instanceof Failure) return refuse(5000, 503);
    if (!isTicket) return refuse(4003);
    const card = readCard(asked, clock);
    if (typeof card === "number") return spend(card);
    const merchantId = entryPoint.merchant.id;
    const origin = { merchantId, page: ticket, ipAddress: options.addressOf(request) };
    const demand = await tries.check(origin, asked.proof, card.number);
    if (demand instanceof Failure) return refuse(5000, 503);
    if (demand.waitS !== undefined) return refuse(5003, 429);
    if (demand.challenge !== undefined) return answer(200, { challenge: demand.challenge });
    const token = await hostedFields.tokenize(entryPoint, ticket, card);
    if (token instanceof Failure) return refuse(5000, 503);
    return token === undefined ? refuse(4003) : answer(200, { hostedFieldsToken: token });
  }

  const tokenizing = tokenizePath(pathWord);
  return [
    ...folders.flatMap((folder) =>
      versions.map((version): HttpRoute => {
        const path = `${folder}/${version}/index.js`;
        return { method: "GET", path, answer: (request) => showScript(version, request) };
      }),
    ),
    { method: "GET", path: "/sdk/hosted-fields/:file", answer: showFile },
    { method: "GET", path: "/sdk/hosted-fields/field/:endpoint/:type", answer: showField },
    { method: "POST", path: tokenizing, answer: tokenize },
    { method: "*", path: tokenizing, answer: async () => ({ ...notFound, ...onlyPost }) },
  ];
}

const notFound: HttpReply = {
  status: 404,
  headers: { "content-type": "text/plain", "cache-control": "no-store" },
  body: "",
};
const onlyPost = { status: 405, headers: { ...notFound.headers, allow: "POST" } };
const forEver = { "cache-control": "public, max-age=31536000, immutable" };

/**
 * Only a field's own document may post: a page of another site has no card field that the
 * cardholder trusts. A browser of today tells where a request comes from, and older ones name their
 * origin.
 */
function isSameOrigin({ headers }: HttpRequest): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const host = URL.parse(headers.origin ?? "")?.host;
  return host !== undefined && host !== "" && host === headers.host;
}

/** No part of the body is ever in a log or an answer. */
function readAsked(body: Uint8Array) {
  const sent = body.length > bodyBytesMax ? undefined : parse(body);
  if (typeof sent !== "object" || sent === null) return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...sent };
  const read = (name: string) => {
    const value = fields[name];
    return typeof value === "string" ? value : "";
  };
  const ticket = read("ephemeralTicket");
  if (ticket === "") return undefined;
  return {
    ticket,
    endpoint: read("endpointId") || (ticket.split(".")[0] ?? ""),
    number: read("cardNumber"),
    expiry: read("expiryDate"),
    cvv: read("cvv"),
    proof: read("proof"),
  };
}

type Asked = NonNullable<ReturnType<typeof readAsked>>;

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}

function readCard(
  { number, expiry, cvv }: Asked,
  clock: Pick<Clock, "now">,
): CardData | 4002 | 4004 {
  const [month = "", year = ""] = splitExpiry(expiry) ?? [];
  const isDated = /^(0[1-9]|1[0-2])$/.test(month) && !isExpired(month, year, clock.now());
  if (!isDated || !/^\d{3,4}$/.test(cvv)) return 4002;
  const digits = number.replace(/[ -]/g, "");
  if (!/^\d{12,19}$/.test(digits) || !isLuhnValid(digits)) return 4004;
  const expiryYear = year.slice(-2);
  const secret = new Secret(cvv);
  return { number: new CardNumber(digits), expiryMonth: month, expiryYear, cvv: secret };
}

function refuse(code: FieldError, status = 400): HttpReply {
  const [message, tip] = fieldErrors[code];
  return answer(status, { code, message, tip });
}

function answer(status: number, fields: object): HttpReply {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    ...(status === 429 || status === 503 ? { "retry-after": "5" } : {}),
  };
  return { status, headers, body: JSON.stringify(fields) };
}
