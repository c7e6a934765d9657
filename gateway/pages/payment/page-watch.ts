/**
 * Compares a payment page, as a browser receives it, with what the gateway sends: a proxy, a
 * content network or an intruder in between may have changed its headers or scripts. Nothing is
 * executed. What a script would load later the page's policy stops, and browsers report it.
 */
import { createHash } from "node:crypto";
import { type Assets, isAssetName } from "./assets.ts";
import { headersFor, walletSources } from "./routes.ts";

export type ReceivedPage = {
  readonly status: number;
  readonly isSecure: boolean;
  readonly headers: Pick<Headers, "get">;
  /** Of the wallets that pages offer, which the browser asks what opens them. */
  readonly walletMethods: readonly string[];
  readonly body: string;
};

/** They load or lead elsewhere, and the page has none. */
const foreignTags = new Set(["iframe", "frame", "object", "embed", "base", "applet"]);

export function findPageFaults(page: ReceivedPage, assets: Assets): readonly string[] {
  if (page.status !== 200 || !page.body.includes('<form id="pay"')) {
    return [`The answer, of status ${page.status}, is no payment page.`];
  }
  const faults = [...findHeaderFaults(page), ...findMarkupFaults(page.body, assets)];
  return faults.map((fault) => fault.replace(/[^ -~]/g, " ").slice(0, 300));
}

function findHeaderFaults(page: ReceivedPage): readonly string[] {
  const { headers, isSecure } = page;
  const { "content-security-policy": policy, ...others } = headersFor({}, "reports");
  const expected = { ...others, ...(isSecure && { "strict-transport-security": undefined }) };
  const changed = Object.entries(expected).flatMap(([name, value]) => {
    const found = headers.get(name);
    const isGood = value === undefined ? found !== null : withoutFolder(found) === value;
    return isGood ? [] : [`The header ${name} is ${found ?? "missing"}.`];
  });
  return [...changed, ...findPolicyFaults(page, directivesOf(policy))];
}

/** A page at an address with a slash at its end is a folder deeper. */
function withoutFolder(text: string | null = ""): string | undefined {
  return text?.replace(/(^|")\.\.\//, "$1");
}

function findPolicyFaults(page: ReceivedPage, wanted: ReadonlyMap<string, string>) {
  const own = directivesOf(page.headers.get("content-security-policy") ?? "");
  const isGood = {
    // Both depend on the endpoint.
    "frame-ancestors": (found = "") => /^('none'|(https?:\/\/[\w.:-]+ ?)+)$/.test(found),
    "connect-src": (found = "'self'") => {
      const known = new Set(["'self'", ...page.walletMethods.map(asSources)].join(" ").split(" "));
      return found.split(" ").every((source) => known.has(source));
    },
    "report-uri": (found?: string) => withoutFolder(found) === "reports",
  };
  const names = new Set([...wanted.keys(), ...own.keys(), ...Object.keys(isGood)]);
  return [...names].flatMap((name) => {
    const given = own.get(name);
    const judge = Object.entries(isGood).find(([each]) => each === name)?.[1];
    if (judge === undefined ? given === wanted.get(name) : judge(given)) return [];
    return [`The directive ${name} of the policy is ${given ?? "missing"}.`];
  });
}

function asSources(method: string): string {
  return walletSources({ method });
}

function directivesOf(policy: string): ReadonlyMap<string, string> {
  return new Map(
    policy.split(";").map((directive) => {
      const [name = "", ...values] = directive.trim().split(/\s+/);
      return [name, values.join(" ")];
    }),
  );
}

function findMarkupFaults(body: string, assets: Assets): readonly string[] {
  // A tag begins after each of these: the gateway escapes them in texts.
  const faults = body.split("<").flatMap((piece) => {
    const [attributes = "", text = ""] = piece.split(">", 2);
    const name = /^[a-z]+/i.exec(attributes)?.[0].toLowerCase() ?? "";
    if (foreignTags.has(name)) return [`The page has <${attributes}>.`];
    if (/\son[a-z]+\s*=/i.test(attributes)) return [`The page has <${attributes}>.`];
    const isLoading = name === "script" || (name === "link" && /stylesheet/i.test(attributes));
    if (!isLoading) return name === "style" ? ["The page has an inline style sheet."] : [];
    const [, file = "", integrity] = fileOf.exec(attributes) ?? [];
    const asset = assets.find(file);
    const isOwn = asset !== undefined && asset.integrity === integrity && text.trim() === "";
    return isOwn ? [] : [`The page has <${attributes}>${text}, which is not in the inventory.`];
  });
  const isLoaded = filesOf(body).includes(assets.script.name);
  return [...faults, ...(isLoaded ? [] : [`The page does not load ${assets.script.name}.`])];
}

const fileOf = /^\w+ (?:rel="stylesheet" )?(?:src|href)="(?:\.\.\/)?([\w.-]+)" integrity="([^"]+)"/;

/** The names of the scripts and style sheets that the page loads. */
export function filesOf(body: string): readonly string[] {
  const names = body.split("<").map((piece) => fileOf.exec(piece)?.[1] ?? "");
  return names.filter(isAssetName);
}

export function findFileFault(name: string, content: Uint8Array, assets: Assets) {
  const digest = `sha384-${createHash("sha384").update(content).digest("base64")}`;
  return assets.find(name)?.integrity === digest ? undefined : `${name} has another content.`;
}
