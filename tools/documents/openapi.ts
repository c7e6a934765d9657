/**
 * Renders the merchant interface as an OpenAPI 3.1 document, from the table of operations: every
 * path in both versions, form bodies, both encodings of replies, and the catalogue of errors.
 */
import { exponentGroups } from "../../client/operations.generated.ts";
import type { Field } from "../../gateway/merchant-api/fields.ts";
import {
  isSignedByOAuth,
  type Operation,
  pathIn,
  placesOf,
  type Version,
  versionsOf,
} from "../../gateway/merchant-api/operation.ts";
import { synchronousVariantOf } from "../../gateway/merchant-api/reply.ts";
import { type FailureRow, failures } from "../../gateway/values/failure.ts";
import { shapeOf } from "./client-source.ts";
import { checksumFields, type Example } from "./examples.ts";
import { formula, pathOf } from "./operation-page.ts";
import { describeBalance, describeReport } from "./report-page.ts";
import { statusFields } from "./status-page.ts";
import { camel, pascal, sentence } from "./text.ts";

type Json = Readonly<Record<string, unknown>>;

export function renderOpenApi(examples: readonly Example[]): string {
  const document = {
    "x-origin": "Generated from gateway/merchant-api by `npm run docs`. Do not edit.",
    openapi: "3.1.0",
    info: {
      title: "Tollgate merchant interface",
      version: "1",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description:
        "Requests are forms. Replies are forms too, or JSON objects of strings for " +
        "`Accept: application/json`. Refusals have the HTTP status 200; look at `type`.",
    },
    externalDocs: { url: "/docs/" },
    // Currencies that are not listed have two fraction digits.
    "x-fraction-digits": Object.fromEntries(exponents()),
    servers: [{ url: "/" }],
    paths: Object.fromEntries([
      ...examples.flatMap(pathsOf),
      ...describeBalance(balanceRefusals),
      describeReport(reportRefusals),
    ]),
    components: {
      schemas: Object.fromEntries([...examples.flatMap(schemasOf), ["Refusal", refusal]]),
      responses: {
        Unavailable: unavailable,
        TooManyRequests: tooMany,
        AccessDenied: denied,
        ReportRefused: reportRefused,
      },
      securitySchemes: { oauth: { type: "http", scheme: "OAuth", description: oauthText } },
    },
  };
  return `${JSON.stringify(document, undefined, 1)}\n`;
}

function exponents(): readonly (readonly [code: string, digits: number])[] {
  return exponentGroups.flatMap(([digits, codes]) => codes.map((code) => [code, digits] as const));
}

const oauthText =
  "OAuth 1.0a (RFC 5849) with RSA-SHA256, see /docs/merchant-api. Payouts in v2 may be signed " +
  "with HMAC-SHA1.";

function schemaOf(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Returns the paths of an operation: for endpoints and groups, in every version, and with the
 * synchronous variant.
 */
function pathsOf(example: Example): readonly (readonly [string, Json])[] {
  const { operation } = example;
  const variants = operation.sync ? [operation, synchronousVariantOf(operation)] : [operation];
  return variants.flatMap((variant) =>
    versionsOf(variant).flatMap((version) =>
      placesOf(variant).map((form) => {
        const place = form === "group" ? "endpoint_group_id" : "endpoint_id";
        const group = form === "group" ? "group/" : "";
        const path = pathOf({ path: pathIn(version, variant) }, `${group}{${place}}`);
        return [path, { post: describe(example, { variant, version, place }) }] as const;
      }),
    ),
  );
}

type Variant = {
  readonly variant: Operation;
  readonly version: Version;
  readonly place: "endpoint_id" | "endpoint_group_id";
};

function describe(example: Example, { variant, version, place }: Variant): Json {
  const { operation, fields } = example;
  const isSync = variant !== operation;
  const words = [isSync ? `sync-${operation.name}` : operation.name.replace(/-v4$/, "")];
  if (place === "endpoint_group_id") words.push("in-group");
  if (version === "v4") words.push("v4");
  const request = `${pascal(operation.name)}${version === "v4" ? "SignedRequest" : "Request"}`;
  const own = Object.fromEntries(fields.filter(([name]) => !checksumFields.has(name)));
  const isOAuth = isSignedByOAuth(operation, version);
  const reply = isSync ? "StatusReply" : shapeOf(example).name;
  const checksum = `\`control\` is the SHA-1 of ${formula(operation.control)}.`;
  return {
    operationId: camel(words.join("-")),
    summary: operation.purpose,
    ...(!isOAuth && { description: checksum, "x-control": operation.control }),
    tags: [operation.name],
    externalDocs: { url: `/docs/merchant-api/${operation.name}` },
    parameters: [{ name: place, in: "path", required: true, schema: { type: "string" } }],
    requestBody: {
      required: true,
      content: { "application/x-www-form-urlencoded": { schema: schemaOf(request), example: own } },
    },
    security: isOAuth ? [{ oauth: [] }] : [],
    responses: {
      200: { description: "The result, or a refusal.", content: contentOf(reply) },
      ...(isOAuth && { 403: { $ref: "#/components/responses/AccessDenied" } }),
      429: { $ref: "#/components/responses/TooManyRequests" },
      503: { $ref: "#/components/responses/Unavailable" },
    },
  };
}

/**
 * Describes a reply in both encodings. A client without an `Accept` header gets the form encoding.
 */
function contentOf(...names: readonly string[]): Json {
  const form = { type: "string", description: "The same fields as `name=value` joined by `&`." };
  const replies = [...new Set([...names, "Refusal"])].map(schemaOf);
  return {
    "application/json": { schema: replies.length === 1 ? replies[0] : { oneOf: replies } },
    "text/html": { schema: form },
  };
}

const retryAfter = {
  "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } },
};
const tooMany = {
  description: "Over the rate limit. The request had no effect.",
  headers: retryAfter,
  content: contentOf(),
};
const unavailable = {
  description: "The gateway cannot store the request now. It had no effect.",
  headers: retryAfter,
  content: contentOf(),
};
const denied = {
  description: "The signature does not prove a merchant of this endpoint.",
  content: { "text/html": { schema: { type: "string" } } },
};

const reportRefused = { description: "The report was refused.", content: contentOf() };
const balanceRefusals = {
  403: { $ref: "#/components/responses/AccessDenied" },
  429: { $ref: "#/components/responses/TooManyRequests" },
  503: { $ref: "#/components/responses/Unavailable" },
};
const reportRefusals = {
  400: { $ref: "#/components/responses/ReportRefused" },
  ...balanceRefusals,
};

const catalogue = Object.values<FailureRow>(failures).map(({ number, word, meaning }) => [
  String(number),
  { word, meaning: sentence(meaning) },
]);

const refusal = {
  type: "object",
  description: "The request was refused and had no effect.",
  properties: {
    "type": { type: "string", enum: ["validation-error", "error"] },
    "serial-number": { type: "string" },
    "error-message": { type: "string", description: "A fixed word, and details after a colon." },
    "error-code": { type: "string", description: "See `x-error-codes`." },
  },
  required: ["type", "serial-number", "error-message", "error-code"],
  "x-error-codes": Object.fromEntries(catalogue),
};

function schemasOf(example: Example): readonly (readonly [string, Json])[] {
  const { operation } = example;
  const { name, type, mandatory, optional } = shapeOf(example);
  const property = (field: string) => {
    if (field === "type") return [field, { type: "string", const: type }] as const;
    const description = statusFields[field];
    return [field, { type: "string", ...(description && { description: sentence(description) }) }];
  };
  const reply = {
    type: "object",
    properties: Object.fromEntries([...mandatory, ...optional].map(property)),
    required: mandatory,
  };
  const requests = versionsOf(operation).map((version) => {
    const word = version === "v4" ? "SignedRequest" : "Request";
    return [`${pascal(operation.name)}${word}`, requestOf(operation, version)] as const;
  });
  return [...requests, [name, reply]];
}

function requestOf({ request }: Operation, version: Version): Json {
  const fields = Object.entries(request).filter(
    ([name]) => version === "v2" || !checksumFields.has(name),
  );
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, field]) => [name, describeField(field)])),
    required: fields.filter(([, { necessity }]) => necessity === "mandatory").map(([name]) => name),
  };
}

/**
 * Describes a field. Its type in the table is a length or a range of lengths, followed by the kind
 * of its characters.
 */
function describeField({ type, documentation, words }: Field<unknown>): Json {
  const [, least, most = "", kind] = /^(?:(\d+)(?:-| or ))?(\d+k?)\/(\w+)$/.exec(type) ?? [];
  const maxLength = most === "64k" ? 65_536 : Number(most);
  const isDigits = kind === "Numeric" && least !== undefined;
  return {
    type: "string",
    description: sentence(documentation),
    ...(words === undefined ? { maxLength } : { enum: words }),
    ...(least !== undefined && words === undefined && { minLength: Number(least) }),
    ...(isDigits && { pattern: "^\\d+$" }),
  };
}
