/**
 * Renders the page of the transaction report, and the paths of the report and of the balance for
 * the OpenAPI document.
 */
import { balanceFields, balancePath } from "../../gateway/merchant-api/balance.ts";
import { reportFields, reportPath } from "../../gateway/merchant-api/report.ts";
import { reportColumns } from "../../gateway/report/columns.ts";
import { printBalance } from "../../gateway/report/statement.ts";
import { shellEncode } from "./program-heads.ts";
import { fence, mono, renderTemplate, sentence, table } from "./text.ts";

const fields = Object.entries(reportFields("UTC"));
const path = `/gw${reportPath}`;

export function renderReportPage(): string {
  const parameters = fields.map(([name, { type, necessity, documentation }]) => {
    return [mono(name), type, necessity, sentence(documentation)];
  });
  const columns = reportColumns.map(([name, meaning]) => [mono(name), sentence(meaning)]);
  return renderTemplate("transaction-report", "gateway/merchant-api/report.ts", {
    path: mono(`GET ${path}`),
    parameters: table(["Parameter", "Length/Type", "Necessity", "Description"], parameters),
    columns: table(["Column", "Meaning"], columns),
    example: fence("sh", example),
  });
}

/** The parameters are in the order of their names, in which they are signed. */
const example = `${shellEncode}

url="$GATEWAY${path}"
parameters=(
  "createdFromDate=$(date -u +%F) 00:00:00" "createdToDate=$(date -u +%F) 23:59:59"
  "oauth_consumer_key=$LOGIN" "oauth_nonce=$(openssl rand -hex 16)"
  "oauth_signature_method=HMAC-SHA1" "oauth_timestamp=$(date +%s)" "oauth_version=1.0"
)
for each in "\${parameters[@]}"; do
  text="\${text:+$text&}\${each%%=*}=$(encode "\${each#*=}")"
done
key="$(encode "$CONTROL_KEY")&"
signature=$(printf '%s' "GET&$(encode "$url")&$(encode "$text")" |
  openssl dgst -sha1 -hmac "$key" -binary | openssl base64 -A)
for each in "\${parameters[@]:2}" "oauth_signature=$signature"; do
  header="\${header:+$header, }\${each%%=*}=\\"$(encode "\${each#*=}")\\""
done
curl -sS --fail-with-body -G "$url" -H "Authorization: OAuth $header" \\
  --data-urlencode "\${parameters[0]}" --data-urlencode "\${parameters[1]}"`;

/** Describes the report for the OpenAPI document. */
export function describeReport(responses: Readonly<Record<string, unknown>>) {
  const parameters = fields.map(([name, { necessity, documentation, type }]) => ({
    name,
    in: "query",
    required: necessity === "mandatory",
    description: sentence(documentation),
    schema: { type: "string", maxLength: Number.parseInt(type, 10) },
  }));
  const description = "The columns are those of /docs/merchant-api/transaction-report.";
  const get = {
    operationId: "transactionReport",
    summary: "Returns a line of CSV for each transaction that began in a span of time.",
    tags: ["transaction-report"],
    externalDocs: { url: "/docs/merchant-api/transaction-report" },
    parameters,
    security: [{ oauth: [] }],
    responses: { 200: { description, content: csv }, ...responses },
  };
  return [path, { get }] as const;
}

const csv = { "text/csv": { schema: { type: "string" } } };

/** Describes the two paths of the balance for the OpenAPI document. */
export function describeBalance(responses: Readonly<Record<string, unknown>>) {
  const text = { type: "string" };
  const form = Object.entries(balanceFields).map(([name, { documentation }]) => {
    return [name, { ...text, description: sentence(documentation) }];
  });
  const schema = { type: "object", properties: Object.fromEntries(form) };
  const names = Object.keys(
    printBalance({ currency: "EUR", net: "0", pending: "0", settled: "0" }),
  );
  return [
    ["merchant", "merchant/{login}", "login", names],
    ["endpoint", "{endpoint_id}", "endpoint_id", [...names, "balance-amount"]],
  ].map(([owner, place, name, fields]) => {
    const properties = Object.fromEntries([...(fields ?? [])].map((field) => [field, text]));
    const items = { type: "object", properties, required: fields };
    const content = { "application/json": { schema: { type: "array", items } } };
    const post = {
      operationId: owner === "merchant" ? "merchantBalance" : "endpointBalance",
      summary: `Returns what the operator owes the ${owner}, in each currency.`,
      tags: ["get-balance"],
      externalDocs: { url: "/docs/balance" },
      parameters: [{ name, in: "path", required: true, schema: text }],
      requestBody: { content: { "application/x-www-form-urlencoded": { schema } } },
      security: [{ oauth: [] }],
      responses: { 200: { description: "The balances, or a refusal.", content }, ...responses },
    };
    return [`/gw${balancePath}/${place}`, { post }] as const;
  });
}
