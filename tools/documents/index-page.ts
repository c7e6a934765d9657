/** Renders the index of the merchant interface from `templates/merchant-api.md`. */
import { hash } from "node:crypto";
import {
  makeBaseString,
  normalizeParameters,
  OAuthFault,
  parseOAuthHeader,
} from "@tollgate/protocols/oauth1";
import { versionsOf } from "../../gateway/merchant-api/operation.ts";
import { synchronousVariantOf } from "../../gateway/merchant-api/reply.ts";
import { findCurrency } from "../../gateway/values/iso-codes.ts";
import { formatAmount, parseAmount } from "../../gateway/values/money.ts";
import { checksumFields, type Example, signedUrlOf, signedValues } from "./examples.ts";
import { renderRecipe } from "./languages.ts";
import { formula, pathOf, titleOf } from "./operation-page.ts";
import * as sample from "./sample-world.ts";
import { mono, renderTemplate, table } from "./text.ts";

export function renderIndex(examples: readonly Example[]): string {
  const inV2 = examples.filter(({ version }) => version === "v2");
  const byFormula = [...Map.groupBy(inV2, ({ operation }) => formula(operation.control))];
  const checksums = byFormula.map(([values, alike]) => [
    alike.map(({ operation }) => titleOf(operation.name)).join(", "),
    values,
  ]);
  const worked = byFormula.flatMap(([, alike]) => alike.slice(0, 1).flatMap(workedOf));
  return renderTemplate("merchant-api", "gateway/merchant-api", {
    operations: table(["Operation", "Path", "Versions", "Purpose"], examples.map(operationRow)),
    amounts: table(["Sent", "In minor units", "In replies"], amountSamples.map(amountRow)),
    checksums: table(["Operations", "Values"], checksums),
    controlKey: sample.controlKey,
    worked: table(["Request", "Values", "Checksum"], worked.map(workedRow)),
    signedText: `${worked[0]?.signed.join("")}${sample.controlKey}`,
    login: sample.endpoint.merchant.login,
    ...oauthSteps(examples),
    synchronousPaths: table(["Operation", "Synchronous path"], examples.flatMap(synchronousRow)),
  });
}

function operationRow({ operation }: Example): readonly string[] {
  const { name, purpose } = operation;
  const link = `[${titleOf(name)}](${name}.md)`;
  const versions = versionsOf(operation).join(", ");
  return [link, mono(pathOf(operation, "{endpoint_id}")), versions, purpose];
}

function synchronousRow({ operation }: Example): readonly (readonly string[])[] {
  if (!operation.sync) return [];
  return [
    [titleOf(operation.name), mono(pathOf(synchronousVariantOf(operation), "{endpoint_id}"))],
  ];
}

const amountSamples = [
  ["10.42", "USD"],
  ["0.94", "EUR"],
  ["10.5", "GBP"],
  ["500", "JPY"],
  ["1.234", "KWD"],
] as const;

function amountRow([amount, code]: (typeof amountSamples)[number]): readonly string[] {
  const currency = findCurrency(code);
  const money = currency && parseAmount(amount, currency);
  if (money === undefined) throw new Error(`${amount} ${code} is not an amount.`);
  return [`${amount} ${code}`, String(money.minor), formatAmount(money)];
}

type Worked = { readonly title: string; readonly signed: readonly string[] };

/**
 * Returns the worked checksums of an operation. The number in the path is the id of the endpoint,
 * or of the group if the request is sent to a group.
 */
function workedOf({ operation, signed, fields }: Example): readonly Worked[] {
  const title = titleOf(operation.name);
  if (!operation.control.includes("{id}")) return [{ title, signed }];
  const atGroup = signedValues(operation.control, new Map(fields), sample.group.id);
  return [
    { title: `${title} at an endpoint`, signed },
    { title: `${title} at a group`, signed: atGroup },
  ];
}

function workedRow({ title, signed }: Worked): readonly string[] {
  const control = hash("sha1", signed.join("") + sample.controlKey);
  const values = [...signed, sample.controlKey].filter((value) => value !== "");
  return [title, values.map(mono).join(" + "), mono(control)];
}

/** Returns the steps from the fields of one request to its OAuth header. */
function oauthSteps(examples: readonly Example[]): Readonly<Record<string, string>> {
  const example = examples.find(({ reply }) => reply.type === "status-response");
  if (example === undefined) throw new Error("No operation answers with a status response.");
  const { operation, fields, authorization } = example;
  const url = signedUrlOf(operation);
  const parameters = fields.filter(([name]) => !checksumFields.has(name));
  const header = parseOAuthHeader(authorization);
  if (header instanceof OAuthFault) throw new Error(`The example is not signed: ${header.reason}.`);
  const text = makeBaseString({ method: "POST", url, parameters }, header.parameters);
  if (text instanceof OAuthFault) throw new Error(`The example is not signed: ${text.reason}.`);
  return {
    oauthParameters: normalizeParameters([...parameters, ...header.parameters]),
    oauthText: text,
    oauthSignature: header.signature,
    oauthRecipe: renderRecipe("oauth"),
    oauthKey: sample.privateKeyPem.trim(),
  };
}
