/** Renders the page of one operation: its purpose, its paths, its parameters, and an example. */
import { hash } from "node:crypto";
import {
  acceptsHmac,
  type ControlTerm,
  type Operation,
  pathIn,
  placesOf,
  type Version,
  versionsOf,
} from "../../gateway/merchant-api/operation.ts";
import { synchronousVariantOf } from "../../gateway/merchant-api/reply.ts";
import type { Example } from "./examples.ts";
import { renderRecipe } from "./languages.ts";
import * as sample from "./sample-world.ts";
import { fence, mono, page, sentence, table } from "./text.ts";

export function renderOperation(example: Example): string {
  const { operation, reply } = example;
  const conditional = Object.values(operation.request).some(
    ({ necessity }) => necessity === "conditional",
  );
  return page(
    "gateway/merchant-api/operations",
    titleOf(operation.name),
    operation.purpose,
    "## Paths",
    pathTable(operation),
    ...(operation.sync ? [synchronousNote] : []),
    "## Parameters",
    table(["Parameter", "Length/Type", "Necessity", "Description"], parameterRows(operation)),
    ...(conditional
      ? ["A conditional parameter is required in some requests; its description says in which."]
      : []),
    ...(hasWaivable(operation) ? [waivableNote] : []),
    "## Authentication",
    ...authentication(operation),
    ...workedChecksum(example),
    "## Example",
    renderExample(example),
    reply.type === "status-response"
      ? "Every field is described in [status response](status-response.md)."
      : "A refusal has the form and the codes described in [errors](errors.md).",
  );
}

export function titleOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function pathOf({ path }: Pick<Operation, "path">, place: string): string {
  return `/gw/api${path.replace("{id}", place)}`;
}

function pathTable(operation: Operation): string {
  const versions = versionsOf(operation);
  const row = (one: Operation, entry: string, place: string) => [
    entry,
    ...versions.map((version) => mono(pathOf({ path: pathIn(version, one) }, place))),
  ];
  const rowsOf = (one: Operation, manner: string) =>
    placesOf(one).map((form) =>
      form === "endpoint"
        ? row(one, `endpoint${manner}`, "{endpoint_id}")
        : row(one, `endpoint group${manner}`, "group/{endpoint_group_id}"),
    );
  const synchronous = operation.sync
    ? rowsOf(synchronousVariantOf(operation), ", synchronous")
    : [];
  const heads = versions.map((version) =>
    acceptsHmac(operation, version) ? hmacHead : versionHeads[version],
  );
  return table(["`POST` to", ...heads], [...rowsOf(operation, ""), ...synchronous]);
}

const hmacHead = "Path, signed by OAuth also with HMAC-SHA1";
const versionHeads: Readonly<Record<Version, string>> = {
  v2: "Path, signed by checksum",
  v4: "Path, signed by OAuth",
};

function authentication(operation: Operation): readonly string[] {
  const versions = versionsOf(operation);
  const covered = formula(operation.control);
  const checksum = `\`control\` is the SHA-1 checksum, in hexadecimal, of ${covered}.`;
  const others = "login" in operation.request ? "`login` and `control` are" : "`control` is";
  const oauth = "an `Authorization` header ([OAuth](README.md#authentication-by-oauth-v4))";
  if (operation.takesHmac) {
    const hmac = "[HMAC-SHA1](README.md#hmac-sha1) with the merchant control key";
    return [`The request carries ${oauth}. In v2 the signature may also be ${hmac}.`];
  }
  if (!versions.includes("v2")) return [`The request carries ${oauth}.`];
  if (!versions.includes("v4")) return [checksum];
  return [
    `In v2 ${checksum}`,
    `In v4 the request carries ${oauth}; ${others} not needed there and ignored when sent.`,
  ];
}

const synchronousNote =
  "The synchronous paths take the same request and answer with the " +
  "[status response](status-response.md) when there is a result, or when the wait times out; see " +
  "[synchronous requests](README.md#synchronous-requests).";

/** Describes the values of a checksum in words, with the key last. */
export function formula(terms: readonly ControlTerm[]): string {
  const words = terms.map((term) => {
    if (term === "{id}") return "the endpoint id or endpoint group id";
    if (term === "{id?}") return "the endpoint id or endpoint group id (which may be left out)";
    if (typeof term === "string") return mono(term);
    if ("minorUnitsOf" in term) return `${mono(term.minorUnitsOf)} in minor units`;
    return `${mono(term.moneyIfSent)} in minor units and \`currency\` when an amount is sent`;
  });
  return `${words.join(", ")}, and the merchant control key, joined without separators`;
}

const waivable = ["email", "phone", "address1", "city", "zip_code", "country"];
const waivableNote =
  "An endpoint can be configured not to require the customer's email address, phone number and " +
  "address; these parameters are then optional there.";

function hasWaivable({ request }: Operation): boolean {
  return waivable.some((name) => request[name]?.necessity === "mandatory");
}

/** The conditions of conditional parameters whose own description does not state them. */
const conditions: readonly (readonly [names: RegExp, condition: string])[] = [
  [/^(credit_card_number|cardNumber)$/, "one of the two names is required, and both must agree"],
  [/^(card_printed_name|expire_month|expire_year)$/, "required with a card number"],
  [/^cvv2$/, "required unless every gate of the endpoint works without it"],
  [/^customer_browser_/, "required when customer_browser_info is `true`"],
];

function parameterRows({ request }: Operation): readonly (readonly string[])[] {
  return Object.entries(request).map(([name, { type, necessity, documentation }]) => {
    const isOpen = necessity === "conditional" && !documentation.includes("mandatory");
    const found = conditions.find(([names]) => isOpen && names.test(name));
    const description = found === undefined ? documentation : `${documentation}; ${found[1]}`;
    return [mono(name), type, necessity, sentence(description)];
  });
}

/** Renders the program in each language, and a reply. */
function renderExample({ operation, answer }: Example): string {
  return [
    "Set the variables of the [quick start](../quick-start.md#2-set-your-credentials) first.",
    renderRecipe(operation.name),
    "The reply to the operation itself is one line; here it has a line break before each `&`:",
    fence("text", answer.replaceAll("&", "\n&")),
  ].join("\n\n");
}

function formulaOf({ operation, signed }: Example) {
  return { terms: operation.control, values: [...signed, sample.controlKey] };
}

/** Renders one checksum step by step, with a place for the calculator of the site. */
function workedChecksum(example: Example): readonly string[] {
  const { signed } = example;
  if (example.version !== "v2") return [];
  const text = signed.join("") + sample.controlKey;
  const values = [...signed, sample.controlKey].filter((value) => value !== "");
  return [
    `For the control key ${mono(sample.controlKey)}: ${values.map(mono).join(" + ")} gives`,
    fence("text", hash("sha1", text)),
    `<!-- calculator ${JSON.stringify(formulaOf(example))} -->`,
  ];
}
