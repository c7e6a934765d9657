/**
 * Compares a payment page, as a browser receives it, with what the gateway sends: a proxy, a
 * content network or an intruder in between may have changed its headers or its markup. All that
 * the gateway does not send is a fault. No script is executed: the page's policy stops what a
 * script would load later, and browsers report it.
 */
import { createHash } from "node:crypto";
import { linkFrom } from "../cardholder/page-reply.ts";
import { type Assets, preloadOf } from "./assets.ts";
import { areSameWords, findLoaded, isKnownTag, type PageFacts, readTags } from "./page-elements.ts";
import { headersFor, reportsName, walletSources } from "./routes.ts";

export type ReceivedPage = {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
};

/** What the gateway's release does not tell. */
export type Expected = Pick<PageFacts, "embedOrigins" | "walletMethods"> & {
  /** In lower case: what a proxy adds by the operator's will. */
  readonly otherHeaders: readonly string[];
};

export function checkPage(page: ReceivedPage, expected: Expected, assets: Assets) {
  const facts = factsOf(page, expected, assets);
  const tags = readTags(page.body);
  const hasForm = tags.some(({ name, attributes }) => {
    return name === "form" && attributes.get("id") === "pay";
  });
  // A page of another encoding begins with a mark of it.
  if (page.status !== 200 || !hasForm || !page.body.startsWith("<!doctype html>")) {
    return { files: [], faults: [`The answer, of status ${page.status}, is no payment page.`] };
  }
  const unknown = tags.filter((tag) => !isKnownTag(tag, facts));
  const loaded = tags.flatMap((tag) => findLoaded(tag, facts)?.name ?? []);
  const { name: script } = assets.script;
  const faults = [
    ...findHeaderFaults(page.headers, facts, expected.otherHeaders),
    ...(page.url.protocol === "https:" ? findTransportFaults(page.headers) : []),
    ...unknown.map(({ source, text }) => {
      return `The page has ${source}${text.trim()}, which is not in the inventory.`;
    }),
    ...(loaded.includes(script) ? [] : [`The page does not load ${script}.`]),
  ];
  return {
    /** The names of the script and the style sheet that the page loads. */
    files: [...new Set(loaded)],
    faults: faults.map((fault) => fault.replace(/[^ -~]/g, " ").slice(0, 300)),
  };
}

/** A page at an address with a slash at its end is a folder deeper. */
function factsOf({ url }: ReceivedPage, expected: Expected, assets: Assets): PageFacts {
  const token = url.pathname.split("/").findLast((part) => part !== "") ?? "";
  const linkTo = (path: string) => linkFrom({ url: url.pathname }, 0, path);
  return { ...expected, folder: linkTo(""), here: linkTo(token), assets };
}

/** They tell how the answer is sent, and change nothing of the page. */
const plainHeaders = new Set([
  ...["age", "connection", "content-encoding", "content-language", "content-length", "date"],
  ...["keep-alive", "server", "transfer-encoding", "vary", "via"],
]);

function findHeaderFaults(
  headers: Headers,
  facts: PageFacts,
  otherHeaders: readonly string[],
): readonly string[] {
  const { embedOrigins: framedBy, folder } = facts;
  const { "content-security-policy": policy, ...same } = headersFor(
    { framedBy },
    `${folder}${reportsName}`,
  );
  const changed = Object.entries(same).filter(([name, value]) => headers.get(name) !== value);
  const judged = ["content-security-policy", "strict-transport-security", "link"];
  const known = new Set([...plainHeaders, ...Object.keys(same), ...judged, ...otherHeaders]);
  const links = headers.get("link")?.split(", ") ?? [];
  const foreign = links.filter((link) => !isOwnPreload(link, facts));
  return [
    ...changed.map(([name]) => `The header ${name} is ${headers.get(name) ?? "missing"}.`),
    ...findPolicyFaults(headers.get("content-security-policy") ?? "", policy, facts),
    ...foreign.map((link) => `The header link is ${link}.`),
    ...[...headers]
      .filter(([name]) => !known.has(name))
      .map(([name, value]) => `The gateway does not send the header ${name}, which is ${value}.`),
  ];
}

function isOwnPreload(link: string, { assets, folder }: PageFacts): boolean {
  const [, address = ""] = /^<([^>]*)>/.exec(link) ?? [];
  const asset = assets.find(address.slice(folder.length));
  return asset !== undefined && link === preloadOf(asset, folder);
}

/** The number of seconds of a year, which the gateway sends. */
const secureSecondsMin = 31_536_000;

function findTransportFaults(headers: Headers): readonly string[] {
  const found = headers.get("strict-transport-security");
  const [, seconds = ""] = /^max-age=(\d+)(;[ ;a-z]*)?$/i.exec(found ?? "") ?? [];
  if (Number(seconds) >= secureSecondsMin) return [];
  return [`The header strict-transport-security is ${found ?? "missing"}.`];
}

function findPolicyFaults(
  found: string,
  policy: string,
  { walletMethods }: PageFacts,
): readonly string[] {
  if (found.includes(",")) return [`The page has several policies: ${found}.`];
  const directives = directivesOf(found);
  // The first of a name counts.
  const own = new Map(directives.toReversed());
  const wanted = new Map(directivesOf(policy));
  const sources = walletMethods.flatMap((method) => walletSources({ method }).split(" "));
  const connectable = new Set(["'self'", ...sources]);
  const isGood = (name: string, given: string | undefined) => {
    // The page names the wallets that it offers, if any.
    if (name === "connect-src") return given?.split(" ").every((each) => connectable.has(each));
    const value = wanted.get(name);
    return given !== undefined && value !== undefined && areSameWords(given, value);
  };
  const names = new Set([...wanted.keys(), ...own.keys()]);
  const changed = [...names].flatMap((name) => {
    const given = own.get(name);
    if (isGood(name, given)) return [];
    return [`The directive ${name} of the policy is ${given ?? "missing"}.`];
  });
  return [
    ...changed,
    ...(own.size < directives.length ? [`The policy has a directive twice: ${found}.`] : []),
  ];
}

function directivesOf(policy: string): readonly (readonly [name: string, value: string])[] {
  return policy.split(";").flatMap((directive) => {
    const [name, ...values] = directive.split(/[\t\n\f\r ]/).filter((word) => word !== "");
    return name === undefined ? [] : [[name.toLowerCase(), values.join(" ")] as const];
  });
}

export function findFileFault(name: string, content: Uint8Array, assets: Assets) {
  const digest = `sha384-${createHash("sha384").update(content).digest("base64")}`;
  return assets.find(name)?.integrity === digest ? undefined : `${name} has another content.`;
}
