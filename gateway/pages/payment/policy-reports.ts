/**
 * Browsers' reports that the payment page's policy has stopped something, such as an injected
 * script or an extension. Anyone can post a report, so few are read per request. Only the directive
 * and the origin of each are kept, because other fields contain the page's URL, which grants access
 * to the payment.
 */
import { makeNetworkLimit, makeSummary } from "../../http/bounds.ts";
import type { HttpRequest } from "../../http/router.ts";
import type { Clock } from "../../values/time.ts";

const bytesMax = 65_536;
const reportsMax = 10;

export type Violation = {
  /** A directive of the policy, or `other` if browsers do not have it. */
  readonly directive: string;
  /** The origin of the blocked content, or a word such as `inline` or `eval`. */
  readonly blocked: string;
};

const directives: ReadonlySet<string> = new Set([
  ...["base-uri", "child-src", "connect-src", "default-src", "font-src", "form-action"],
  ...["frame-ancestors", "frame-src", "img-src", "manifest-src", "media-src", "object-src"],
  ...["require-trusted-types-for", "sandbox", "script-src", "script-src-attr", "script-src-elem"],
  ...["style-src", "style-src-attr", "style-src-elem", "trusted-types", "worker-src"],
]);

/** The limit on reports from one network address, because a page can cause very many. */
const heard = { perSecond: 1, burst: 10 };

type Reports = {
  readonly clock: Clock;
  readonly addressOf: (request: HttpRequest) => string;
  readonly onViolation: (violation: Violation) => void;
  /** Called at most once a minute for each violation, with the number of its reports. */
  readonly onSummary: (violation: string, count: number) => void;
};

export function makeTakeReport({ clock, addressOf, onViolation, onSummary }: Reports) {
  const isTooFast = makeNetworkLimit(heard, clock, addressOf);
  const summary = makeSummary(clock, onSummary);
  return (request: HttpRequest): void => {
    if (isTooFast(request)) return;
    for (const violation of readViolations(request.body)) {
      onViolation(violation);
      summary.add(`${violation.directive} ${violation.blocked}`);
    }
  };
}

export function readViolations(body: Uint8Array): readonly Violation[] {
  if (body.length > bytesMax) return [];
  return parseReports(body).slice(0, reportsMax);
}

/** Newer browsers send a list by the Reporting API, older ones the form of `report-uri`. */
function parseReports(body: Uint8Array): readonly Violation[] {
  const content = parseJson(body);
  const reports = Array.isArray(content) ? content : [Object(content)["csp-report"] ?? content];
  return reports.flatMap((report) => {
    const { body: modern, ...old } = Object(report);
    if (modern !== undefined && Object(report).type !== "csp-violation") return [];
    const found = Object(modern ?? old);
    const directive =
      found.effectiveDirective ?? found["effective-directive"] ?? found["violated-directive"];
    if (typeof directive !== "string") return [];
    // Older browsers send the directive with its value.
    const [name = ""] = directive.split(" ", 1);
    const blocked = originOf(found.blockedURL ?? found["blocked-uri"]);
    return [{ directive: directives.has(name) ? name : "other", blocked }];
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
  if (typeof blocked !== "string") return "unknown";
  const { origin = "null" } = URL.parse(blocked) ?? {};
  if (origin !== "null") return origin.slice(0, 100);
  return /^[a-z-]{1,40}$/.exec(blocked)?.[0] ?? "unknown";
}
