/**
 * The document of one hosted field: a labelled input, which the shop's page shows in a frame. Only
 * the sites of the endpoint may do that, and the document loads nothing but its own two files.
 */
import type { HttpReply, HttpRequest } from "../../http/router.ts";
import { html } from "../../values/html.ts";
import type { Texts } from "../cardholder/english.ts";
import { chooseLanguage, linkFrom } from "../cardholder/page-reply.ts";
import { pageHeaders } from "../design.ts";
import { compressed, type makeFieldAssets, scriptLink, styleLink } from "../payment/assets.ts";

export const fieldTypes = ["pan", "exp", "cvv"] as const;
export type FieldType = (typeof fieldTypes)[number];

/** The attribute `autocomplete`, and the key of the label among the payment page's texts. */
// biome-ignore format: a table
const inputs = {
  pan: ["cc-number", "number", 23],
  exp: ["cc-exp",    "expiry", 9],
  cvv: ["cc-csc",    "cvv",    4],
} as const;

type ErrorRow = readonly [
  message: string,
  tip: string,
  field: FieldType | "",
  payer: (texts: Texts["pay"]) => string,
];

const later = (pay: Texts["pay"]) => pay.fieldsLater;
const over = (pay: Texts["pay"]) => pay.fieldsOver;

/** The errors of a tokenization. A code never changes its meaning. */
// biome-ignore format: a table
export const fieldErrors = {
  1006: ["the endpoint has no hosted fields",                 "compare endpointId with the gateway's settings", "", over],
  2001: ["the card number is incomplete or mistyped",         "nothing was sent; the ticket is still good", "pan", ({ faults }) => faults.number.wrong],
  2002: ["the expiry date is unreadable or past",             "nothing was sent; the ticket is still good", "exp", ({ faults }) => faults.year.wrong],
  2003: ["the security code is too short",                    "nothing was sent; the ticket is still good", "cvv", ({ faults }) => faults.cvv.wrong],
  2004: ["a field is empty",                                  "nothing was sent; the ticket is still good", "",    ({ fieldsEmpty }) => fieldsEmpty],
  4001: ["the gateway could not read the request",            "get a new ticket", "", over],
  4002: ["expiry date or security code is missing or wrong",  "get a new ticket", "", over],
  4003: ["the ticket is unknown, expired or used",            "get a new ticket for each page that is shown", "", over],
  4004: ["the gateway refuses the card number",               "get a new ticket", "pan", ({ faults }) => faults.number.wrong],
  4005: ["the ticket is of another endpoint",                 "make tickets at the endpoint of endpointId", "", over],
  5000: ["the gateway cannot tokenize at this moment",        "the ticket is still good: try again", "", later],
  5001: ["the gateway did not answer",                        "reload the page: the ticket may be used", "", over],
  5003: ["too many cards were tried",                         "the ticket is still good: try again later", "", ({ tooMany }) => tooMany],
} as const satisfies Readonly<Record<number, ErrorRow>>;

export type FieldError = keyof typeof fieldErrors;

type Shown = {
  readonly type: FieldType;
  readonly endpoint: string;
  /** The sites that may show the field. The document of an endpoint without any says so. */
  readonly origins: readonly string[];
  readonly pathWord: string;
};

export function fieldReply(
  { type, endpoint, origins, pathWord }: Shown,
  assets: ReturnType<typeof makeFieldAssets>,
  request: HttpRequest,
): HttpReply {
  const wanted = URL.parse(request.url, "http://localhost")?.searchParams.get("lang");
  const { language, texts } = chooseLanguage(wanted || request.headers["accept-language"]);
  const [word, text, length] = inputs[type];
  const label = texts.pay[text];
  const folder = linkFrom(request, 2, "");
  const errors = Object.entries(fieldErrors).map(([code, [message, tip, field, payer]]) => {
    return [code, [message, tip, field || undefined, payer(texts.pay)]];
  });
  const isOff = origins.length === 0;
  const body = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${label}</title>
${styleLink(assets.style, folder)}
${scriptLink(assets.script, folder)}
</head>
<body data-type="${type}" data-endpoint="${endpoint}" data-origins="${origins.join(" ")}"
 data-code="${isOff ? "1006" : ""}" data-errors="${JSON.stringify(Object.fromEntries(errors))}"
 data-api="${linkFrom(request, 4, tokenizePath(pathWord).slice(1))}">
<label for="value">${label}</label>
<input id="value" name="${word}" autocomplete="${word}" inputmode="numeric" dir="ltr"
 spellcheck="false" autocorrect="off" maxlength="${length}" required>
</body>
</html>
`;
  const policy = {
    "style-src": "'self'",
    "script-src": "'self'",
    "connect-src": "'self'",
    "img-src": "",
    "form-action": "'none'",
    // The document of an endpoint without hosted fields has no input to protect.
    "frame-ancestors": origins.join(" "),
    "require-trusted-types-for": "'script'",
  };
  const headers = { ...pageHeaders({ policy }), "content-language": language };
  return compressed({ status: 200, headers, body: body.text }, request);
}

export function tokenizePath(pathWord: string): string {
  return `/${pathWord}/api/v4/tokenize/hosted-fields`;
}
