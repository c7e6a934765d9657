/**
 * What browsers report when the payment page's policy has stopped something: a script that was
 * injected, or a browser's extension. Anyone can post a report, so that the gateway reads a few of
 * a request and keeps a directive and an origin of each. A report's other fields have the page's
 * address, which grants access to the payment.
 */

const bytesMax = 65_536;
const reportsMax = 10;

type Violation = { readonly directive: unknown; readonly blocked: unknown };

/** As `script-src https://evil.example`. */
export function readViolations(body: Uint8Array): readonly string[] {
  if (body.length > bytesMax) return [];
  return parseReports(body)
    .slice(0, reportsMax)
    .map(({ directive, blocked }) => `${wordOf(directive)} ${originOf(blocked)}`);
}

/** Of the Reporting API, and of browsers that know `report-uri` alone. */
function parseReports(body: Uint8Array): readonly Violation[] {
  const content = parseJson(body);
  const reports = Array.isArray(content) ? content : [Object(content)["csp-report"]];
  return reports.flatMap((report) => {
    const { body: modern, ...old } = Object(report);
    if (modern !== undefined && Object(report).type !== "csp-violation") return [];
    const found = Object(modern ?? old);
    const directive = found.effectiveDirective ?? found["effective-directive"];
    if (directive === undefined) return [];
    return [{ directive, blocked: found.blockedURL ?? found["blocked-uri"] }];
  });
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}

function originOf(blocked: unknown): string {
  const { origin = "null" } = URL.parse(String(blocked)) ?? {};
  return origin === "null" ? wordOf(blocked) : origin.slice(0, 100);
}

/** Such as `inline`, `eval` and `script-src-elem`. */
function wordOf(value: unknown): string {
  return /^[a-z-]{1,40}$/.exec(String(value))?.[0] ?? "unknown";
}
