/** Renders the page of the transaction report, and its path for the OpenAPI document. */
import { reportFields, reportPath } from "../../gateway/merchant-api/report.ts";
import { reportColumns } from "../../gateway/report/columns.ts";
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
