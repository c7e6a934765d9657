/**
 * Checks which folder may import which, and that no files import each other in a circle. A folder
 * may always import from itself, and otherwise what its row names. The row with the longest
 * matching path applies. `type …` allows types only.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { isTest, lineOf, root, type TextFile } from "./repository.ts";

type Rule = readonly [folder: string, mayImport: readonly string[]];

const values = "gateway/values";
const orders = "gateway/orders";
const views = "gateway/views";
const report = "gateway/report";
const http = "gateway/http";
const threads = "gateway/worker-threads";
const certificates = "gateway/certificates";
/** The parts that `main.ts` and `wiring/` assemble. `staging` is not one of them. */
const product = [
  ...["acquirers", "callbacks", "certificates", "config", "directory-api", "engine", "http"],
  "issuers",
  ...["merchant-api", "observability", "orders", "pages", "portal-api", "screening", "storage"],
  ...[
    "reconciliation",
    "report",
    "threeds",
    "values",
    "vault",
    "views",
    "wallets",
    "worker-threads",
  ],
].map((folder) => `gateway/${folder}`);
/**
 * The parts that the outer interfaces call. Each interface imports only the types of the part that
 * does the work.
 */
const called = [
  ...["callbacks", "engine", "screening", "threeds", "wallets"].map(
    (part) => `type gateway/${part}`,
  ),
];
const storage = "gateway/storage";
const config = "gateway/config";
/**
 * The stored data that commands read and change: configuration, keys and orders, but no running
 * node.
 */
const stored = [
  values,
  orders,
  views,
  report,
  config,
  storage,
  "gateway/vault",
  "gateway/observability",
];
const configured = [
  "acquirers/gates",
  "acquirers/iso8583-host/connector",
  "acquirers/iso8583-host/key-exchange",
  "acquirers/iso8583-host/own-link",
  "backup",
  "callbacks",
  "certificates",
  "engine/decide",
  "issuers",
  "merchant-api/control",
  "portal-api/order-index",
  "portal-api/reads",
  "reconciliation",
  "screening",
  "threeds",
  "wallets",
].map((part) => `gateway/${part}`);
/** Storage implements the ports that these parts declare. */
const ports = [
  ...["acquirers", "callbacks", "engine", "issuers", "merchant-api", "portal-api", "report"],
  ...["screening", "threeds", "vault", "wallets"],
].map((part) => `type gateway/${part}`);

// biome-ignore format: a table
export const importRules: readonly Rule[] = [
  ["protocols/*",           ["protocols/shared"]],

  ["gateway/values",        []],
  ["gateway/orders",        [values]],
  ["gateway/views",         [values, orders]],
  ["gateway/report",        [values, orders, views, threads]],
  // The thread unpacks stored rows, and needs neither the driver nor a connection.
  ["gateway/report/report-worker-thread", [values, report, threads, "gateway/storage/orders/order-row"]],

  ["gateway/engine",        [values, orders, "type gateway/vault"]],
  ["gateway/screening",     [values, orders, "protocols"]],
  ["gateway/threeds",       [values, orders, "protocols", certificates, threads]],
  ["gateway/wallets",       [values, orders, "protocols", threads]],
  ["gateway/acquirers",     [values, orders, "protocols", certificates]],
  ["gateway/callbacks",     [values, orders, "protocols", views, threads]],
  ["gateway/worker-threads", [values]],
  ["gateway/certificates",  [values]],
  ["gateway/issuers",       [values, orders]],
  ["gateway/reconciliation", [values, orders]],
  ["gateway/vault",         [values]],

  ["gateway/merchant-api",  [values, orders, views, report, http, ...called, "type gateway/observability", "protocols/form", "protocols/oauth1"]],
  ["gateway/directory-api", [values, orders, views, http, "protocols/emv3ds"]],
  ["gateway/pages",         [values, orders, views, http, ...called, "protocols/form"]],
  ["gateway/portal-api",    [values, orders, views, report, http, "type gateway/administration", "type gateway/storage"]],

  ["gateway/storage",       [values, orders, ...ports]],
  ["gateway/backup",        [values, storage, "type gateway/vault"]],
  ["gateway/http",          [values, certificates]],
  ["gateway/observability", [values, orders]],
  ["gateway/config",        [values]],
  ["gateway/main",          [...product, "type gateway/administration", "type gateway/staging/parts", "gateway/wiring"]],
  ["gateway/administration", [...stored, ...configured, "gateway/http/bounds", "type gateway/engine/accept", "type gateway/portal-api"]],
  // This is the only import of staging. It checks the environment first.
  ["gateway/administration/installation/staging", ["gateway/config", "gateway/staging/staging"]],
  ["gateway/wiring",        [...product, "gateway/administration", "type gateway/staging/parts"]],
  ["gateway/installation",  [...stored, "gateway/administration/session"]],
  ["gateway/cli",           [...stored, ...configured, "gateway/administration", "gateway/main", "gateway/installation"]],
  // These commands register cards as a merchant's own request does, and write them in its columns.
  ["gateway/cli/card-import", [...stored, "gateway/administration", "gateway/cli", "gateway/backup", "gateway/issuers", "gateway/engine", "gateway/merchant-api"]],
  ["gateway/cli/card-export", [...stored, "gateway/administration", "gateway/cli", "gateway/backup", "gateway/engine", "gateway/merchant-api"]],
  // This command compares the page with what the gateway sends.
  ["gateway/cli/page",      [...stored, "gateway/administration", "gateway/cli", "gateway/pages/payment"]],
  ["gateway/staging",       [...stored, "gateway/issuers", "gateway/pages", "gateway/http", "gateway/administration", "gateway/cli", "gateway/merchant-api/control", "gateway/orders", "gateway/portal-api", "type gateway/callbacks", "type gateway/installation", "protocols/form"]],

  ["sandbox-bank",          ["protocols"]],
  ["client",                ["protocols/form", "protocols/oauth1"]],
  // Examples are what a merchant would copy, so they use the client and no other workspace.
  ["examples",              ["client"]],
  ["portal",                ["type gateway/portal-api", "gateway/labels", "tools/build-when-stale"]],
  ["docs-site",             ["tools/build-when-stale"]],

  ["tests",                 ["client", "gateway/main", "sandbox-bank"]],
  // The published vectors are in the folders of their codecs, and their keys must get into the
  // vault.
  ["tests/outside",         ["tests", "client", "gateway/main", "gateway/administration/installation/wallets", values, "sandbox-bank", "protocols"]],
  ["tests/support",         ["tests", "tools/find-browser", "client", "gateway/main", "gateway/actions", "gateway/field", "gateway/administration", "gateway/portal-requests", "gateway/installation", "gateway/demonstration", "gateway/callback-feed", "gateway/sandbox-portal", "gateway/sandbox-ranges", "gateway/wallet-sheet", "gateway/archive", "gateway/merchant-set", "gateway/cell-administration", "gateway/database", "gateway/commands", "gateway/doctor", "gateway/embedded", "gateway/settings-for-tests", "gateway/log", "gateway/partitions", "gateway/password", "gateway/portal-api", "gateway/problem", "gateway/roles", "gateway/secret", "gateway/totp", "gateway/users", "portal/build", "docs-site/build", "sandbox-bank", "type gateway"]],
  // The simulator builds its nodes from the gateway's parts, on its own platform.
  ["tests/simulator",       ["gateway", "protocols", "tests/support/series"]],
  // Fuzzing changes the samples in the folders of the codecs.
  ["tests/fuzz",            ["tests", "client", "gateway/main", "gateway/http", "sandbox-bank", "protocols"]],
  // Benchmarks start the gateway as tests start it.
  ["benchmarks",            ["tools/process-times", "tests/support/gateway-process", "tests/support/databases/gateway-server", "type tests/support/clean-up", "gateway/storage/orders/generated-orders", "protocols"]],
  ["tools",                 ["client", "gateway", "portal/actions/offers", "portal/language/texts", "sandbox-bank", "protocols"]],
];

/** Packages that only these folders may use. */
export const packageRules: readonly Rule[] = [
  ["pg", ["gateway/storage", "tests", "benchmarks"]],
  ["pg-copy-streams", ["gateway/storage"]],
  ["age-encryption", ["gateway/backup"]],
  ["@simplewebauthn/server", ["gateway/portal-api"]],
  ["undici", ["gateway/callbacks"]],
];

/** Folders without I/O: no clock, no disk, no network, no other process. */
const pureFolders = ["protocols", values, orders, views];
const inputOrOutput =
  /^node:(fs|net|tls|dgram|dns|https?|http2|timers|child_process|worker_threads|cluster)\b/;

/** The file that a workspace exports under its own name. */
const mainFiles: Readonly<Record<string, string>> = {
  "gateway": "gateway/main",
  "sandbox-bank": "sandbox-bank/bank",
  "client": "client/client",
};

export function findImportFaults(file: TextFile): readonly string[] {
  if (ruleFor(file.path) === undefined) {
    return [`${file.path} is in a folder that tools/import-rules.ts does not know`];
  }
  return importsOf(file).flatMap(({ specifier, typesOnly, line }) => {
    const fault = faultOf(file, specifier, typesOnly ? "types" : "values");
    return fault === undefined ? [] : [`${file.path}:${line} ${fault}`];
  });
}

function faultOf(file: TextFile, specifier: string, what: "types" | "values"): string | undefined {
  const target = targetOf(file.path, specifier);
  if (target === undefined) return packageFault(file, specifier);
  // The rules are about production code: a test may import all of its workspace and the bank.
  const open = [workspaceOf(file.path), "sandbox-bank"];
  if (isTest(file) && open.some((at) => isWithin(target, at))) return undefined;
  const [folder, mayImport] = ruleFor(file.path) ?? [file.path, []];
  const own = folderOf(file.path, folder) ?? file.path;
  const allowed = [own, ...mayImport].some((entry) => {
    const forTypes = entry.startsWith("type ");
    return (what === "types" || !forTypes) && isWithin(target, entry.replace(/^type /, ""));
  });
  return allowed ? undefined : `may not import ${what} of ${target} (tools/import-rules.ts)`;
}

function packageFault(file: TextFile, specifier: string): string | undefined {
  const { path } = file;
  if (
    inputOrOutput.test(specifier) &&
    !isTest(file) &&
    pureFolders.some((at) => isWithin(path, at))
  ) {
    return `is pure and may not import ${specifier}`;
  }
  const rule = packageRules.find(([name]) => isWithin(specifier, name));
  if (rule === undefined || rule[1].some((at) => isWithin(path, at))) return undefined;
  return `may not use the package ${specifier}: only ${rule[1].join(", ")} may`;
}

/**
 * Returns the path in this repository that an import means, or undefined for a package or a part of
 * Node.
 */
function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return join(dirname(path), specifier);
  const named = /^@tollgate\/([^/]+)(\/.+)?$/.exec(specifier);
  if (named === null) return undefined;
  const [, workspace = "", part = ""] = named;
  return part === "" ? (mainFiles[workspace] ?? workspace) : workspace + part;
}

function ruleFor(path: string): Rule | undefined {
  const matching = importRules.filter(([folder]) => folderOf(path, folder) !== undefined);
  return matching.sort(([left], [right]) => right.length - left.length)[0];
}

/** Returns the folder or file of the rule that contains the path, with its `*` filled in. */
function folderOf(path: string, folder: string): string | undefined {
  const depth = folder.split("/").length;
  const start = path.split("/").slice(0, depth).join("/");
  const filled = folder.endsWith("*") ? start : folder;
  const fits = folder.endsWith("*")
    ? start.startsWith(folder.slice(0, -1))
    : isWithin(path, folder);
  return fits ? filled : undefined;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`) || path.startsWith(`${place}.`);
}

function workspaceOf(path: string): string {
  return path.split("/")[0] ?? "";
}

/**
 * Returns every circle as its files, in the order in which they import each other. Imports of types
 * count.
 */
export function findCircles(sources: readonly TextFile[]): readonly (readonly string[])[] {
  const graph: Graph = new Map(sources.map((file) => [file.path, filesImportedBy(file)]));
  const circles: (readonly string[])[] = [];
  for (const path of graph.keys()) {
    if (circles.some((circle) => circle.includes(path))) continue;
    const circle = shortestCircle(graph, path);
    if (circle !== undefined) circles.push(circle);
  }
  return circles;
}

export function printCircle(circle: readonly string[]): string {
  return [...circle, circle[0]].join(" → ");
}

type Graph = ReadonlyMap<string, readonly string[]>;

/** Searches breadth first from the file until a found file imports it. */
function shortestCircle(graph: Graph, start: string): readonly string[] | undefined {
  const ways = new Map([[start, [start]]]);
  for (const [path, way] of ways) {
    for (const imported of graph.get(path) ?? []) {
      if (imported === start) return way;
      if (!ways.has(imported)) ways.set(imported, [...way, imported]);
    }
  }
  return undefined;
}

function filesImportedBy(file: TextFile): readonly string[] {
  return importsOf(file).flatMap(({ specifier }) => {
    if (specifier.startsWith(".")) return [join(dirname(file.path), specifier)];
    const [, workspace, part = ""] = /^@tollgate\/([^/]+)(\/.+)?$/.exec(specifier) ?? [];
    if (workspace === undefined) return [];
    const { exports } = JSON.parse(readFileSync(join(root, workspace, "package.json"), "utf8"));
    return [join(workspace, exports[`.${part}`])];
  });
}

/**
 * Returns the static and dynamic imports and the re-exports. The keywords must be in code, not in a
 * string.
 */
function importsOf({ text, parts }: TextFile) {
  const pattern =
    /\b(import|export)\b(\s+type\b)?(?:[\s\w*{},$]*?\bfrom\s*|\s*\(\s*|\s*)(["'])([^"'\n]+)\3/g;
  return [...text.matchAll(pattern)].flatMap((match) => {
    const [, word = "", type, , specifier = ""] = match;
    if (parts.code.slice(match.index, match.index + word.length) !== word) return [];
    return [{ specifier, typesOnly: type !== undefined, line: lineOf(text, match.index) }];
  });
}
