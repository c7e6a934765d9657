/**
 * An example of every command that works on the installation, in an order in which each finds what
 * it needs. A command in the table of rights without an example fails the test that goes through
 * the examples.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAllActions } from "@tollgate/gateway/actions";
import { loadMachineCommands } from "@tollgate/gateway/commands";
import { written } from "@tollgate/gateway/field";
import { hasRight, type Right, type Role, rights, roles } from "@tollgate/gateway/roles";
import { type Ran, runGwWith } from "../programs.ts";
import { wordsFor } from "./sample-values.ts";

/**
 * An example. Values that later examples need, like `<endpoint>`, are kept from the output of
 * earlier ones. `<others>` stands for a sample of every other field of the action.
 */
export type Example = {
  readonly path: string;
  readonly words: string;
  readonly input?: string;
  /** The name under which a field of the output is kept. */
  readonly keep?: readonly [name: string, field: string];
  /**
   * Whether the command needs more than this world has, so that its audit entry says that it was
   * refused.
   */
  readonly isRefused?: true;
};

export const macKey = "0123456789ABCDEFFEDCBA9876543210";

// biome-ignore format: a table
const gateWords = "--kind iso87_binary --host 127.0.0.1:1 --tls off --terminal 10000042 --merchant-code ACME1 --name-and-place ACME --category 5732 --country 840 --acquirer-id 412345 --descriptor ACME";

// biome-ignore format: a table
export const changing: readonly Example[] = [
  { path: "migrate",                    words: "--yes", isRefused: true },
  { path: "apply",                      words: "-f <folder>/gateway.yaml" },
  { path: "user add",                   words: "zoe --role support" },
  { path: "user role",                  words: "zoe --role finance" },
  { path: "generate orders",            words: "--count 0", isRefused: true },
  { path: "user password",              words: "zoe" },
  { path: "user reset-factors",         words: "zoe" },
  { path: "user demand-factor",         words: "demo off" },
  { path: "user end-session",           words: "zoe" },
  { path: "user disable",               words: "zoe" },
  { path: "user enable",                words: "zoe" },
  { path: "user remove",                words: "zoe" },
  { path: "approval give",              words: "1", isRefused: true },
  { path: "merchant create",            words: "fresh --no-endpoints" },
  { path: "merchant set",               words: "fresh <others>" },
  { path: "merchant disable",           words: "fresh" },
  { path: "merchant enable",            words: "fresh" },
  { path: "merchant show --reveal",     words: "fresh" },
  { path: "merchant control-key renew", words: "fresh" },
  { path: "merchant control-key drop",  words: "fresh" },
  { path: "merchant control-key set",   words: "fresh", input: "a-key-that-the-merchant-has" },
  { path: "merchant key add",           words: "fresh <folder>/public.pem --name public.pem", keep: ["key", "key"] },
  { path: "merchant key remove",        words: "fresh <key>" },
  { path: "merchant report set",        words: "demo --report-url https://shop.example/report" },
  { path: "gate create",                words: `spare ${gateWords}` },
  { path: "gate set",                   words: "spare <others> --why test" },
  { path: "gate mac-key set",           words: "spare", input: macKey, keep: ["mac", "id"] },
  { path: "gate mac-key drop",          words: "spare <mac> --turn-off" },
  { path: "gate mac-key zone",          words: "spare", input: macKey },
  { path: "gate mac-key exchange",      words: "spare", isRefused: true },
  { path: "gate mac-key drop-zone",     words: "spare" },
  { path: "endpoint create",            words: "fresh usd --currency USD --gate spare --shop-name Fresh", keep: ["endpoint", "endpoint"] },
  { path: "pay",                        words: "--endpoint 1", isRefused: true },
  { path: "link create",                words: "--endpoint <endpoint> --amount 5 --currency USD", keep: ["link", "link"] },
  { path: "link close",                 words: "<link>" },
  { path: "endpoint set",               words: "<endpoint> <others>" },
  { path: "terminal open",              words: "--endpoint <endpoint> --amount 5 --currency USD" },
  { path: "endpoint gates",             words: "<endpoint> sandbox" },
  { path: "endpoint callback add",      words: `<endpoint> --url https://shop.example/told?s=\${status} --type sale --status approved` },
  { path: "endpoint callback remove",   words: `<endpoint> --url https://shop.example/told?s=\${status}` },
  { path: "route add",                  words: "<endpoint> --network VISA --bin 400000..400099 --amount 100.. --to cheapest" },
  { path: "route set",                  words: "<endpoint> 1 --amount none --to refuse" },
  { path: "route add",                  words: "<endpoint> --to sandbox --place 1" },
  { path: "route move",                 words: "<endpoint> 1 --place 2" },
  { path: "route remove",               words: "<endpoint> 1" },
  { path: "group create",               words: "fresh all <endpoint>", keep: ["group", "group"] },
  { path: "group set",                  words: "<group> --disable" },
  { path: "gate remove",                words: "spare" },
  { path: "directory put",              words: "spare <others>" },
  { path: "directory refresh",          words: "spare" },
  { path: "directory remove",           words: "spare" },
  { path: "wallet set",                 words: "fresh <others>" },
  { path: "wallet domain-file set",     words: "wallet-file <folder>/public.pem" },
  { path: "wallet domain-file remove",  words: "wallet-file" },
  { path: "wallet key make",            words: "fresh walletb", keep: ["wallet", "id"] },
  { path: "wallet key certify",         words: "<wallet> <folder>/public.pem", isRefused: true },
  { path: "wallet key remove",          words: "<wallet>" },
  { path: "filter add amount",          words: "--currency USD --max 1000000 --disabled" },
  { path: "filter add cards",           words: "--per email --count 9 --window 1h --action mark" },
  { path: "filter add declines",        words: "--per card --count 9 --window 1h --share 50" },
  { path: "filter add duplicate",       words: "--window 1m --at merchant --action mark" },
  { path: "filter add first-seen",      words: "--per card --age 1m --action mark" },
  { path: "filter add checks",          words: "--address no-match --cvv unless-match --action mark" },
  { path: "filter add countries",       words: "--compare payer-ip --alike DE,AT --action mark" },
  { path: "filter add velocity",        words: "--per email --count 9 --window 1h --endpoint <endpoint>", keep: ["rule", "rule"] },
  { path: "filter change",              words: "<rule> count=8" },
  { path: "filter disable",             words: "<rule>" },
  { path: "filter enable",              words: "<rule>" },
  { path: "filter remove",              words: "<rule>" },
  { path: "list add",                   words: "block email bad@shop.example --why test", keep: ["entry", "entry"] },
  { path: "list remove",                words: "<entry>" },
  { path: "list import",                words: "<folder>/list.csv" },
  { path: "doubt ask",                  words: "1 --why test", isRefused: true },
  { path: "doubt settle",               words: "1 --as done --why test", isRefused: true },
  { path: "chargeback import",          words: "<folder>/public.pem", isRefused: true },
  { path: "chargeback decide",          words: "1 C1 --decision contested --why test", isRefused: true },
  { path: "settlement book",            words: "fresh --amount 12.50 --currency USD --reference W4" },
  { path: "reconcile",                  words: "--gate none --day 2030-01-01 --totals", isRefused: true },
  { path: "callback resend",            words: "1", isRefused: true },
  { path: "endpoint callback test",     words: `<endpoint> --url https://shop.example/\${status}`, isRefused: true },
  { path: "callback secret",            words: "<endpoint>" },
  { path: "bin load",                   words: "<folder>/bins.csv" },
  { path: "cell add",                   words: "third" },
  { path: "cell move-merchant",         words: "nobody third", isRefused: true },
  { path: "key rewrap",                 words: "", isRefused: true },
  { path: "key rotate",                 words: "" },
  { path: "card restart",               words: "demo <card>", isRefused: true },
  { path: "card remove",                words: "demo <card>" },
  { path: "card import",                words: "<folder>/list.csv --endpoint <plain>", isRefused: true },
  { path: "card export",                words: "demo --recipient age1nobody --why test", isRefused: true },
  { path: "privacy erase",              words: "--email nobody@shop.example --yes" },
  { path: "backup",                     words: "", isRefused: true },
  { path: "files sign",                 words: "", isRefused: true },
  { path: "restore hold",               words: "" },
  { path: "restore verify",             words: "" },
  { path: "restore release",            words: "--unreconciled --why test" },
];

/** Examples that read what a new world contains. */
// biome-ignore format: a table
export const looking: readonly Example[] = [
  { path: "audit list",        words: "" },
  { path: "audit verify",      words: "" },
  { path: "access-review",     words: "" },
  { path: "approval list",     words: "" },
  { path: "export",            words: "" },
  { path: "user list",         words: "" },
  { path: "merchant list",     words: "" },
  { path: "merchant show",     words: "demo" },
  { path: "merchant key list", words: "demo" },
  { path: "merchant report list", words: "demo" },
  { path: "endpoint list",     words: "demo" },
  { path: "endpoint show",     words: "<plain>" },
  { path: "endpoint callback list", words: "<plain>" },
  { path: "route list",        words: "<plain>" },
  { path: "route try",         words: "<plain>" },
  { path: "group list",        words: "demo" },
  { path: "gate list",         words: "" },
  { path: "gate show",         words: "sandbox" },
  { path: "gate mac-key list", words: "sandbox" },
  { path: "directory list",    words: "" },
  { path: "directory show",    words: "sandbox" },
  { path: "wallet domain-file list", words: "" },
  { path: "filter list",       words: "" },
  { path: "filter try",        words: "" },
  { path: "link list",         words: "" },
  { path: "list show",         words: "" },
  { path: "list export",       words: "" },
  { path: "order list",        words: "" },
  { path: "order export",      words: "" },
  { path: "report",            words: "demo --since 2030-01-01 --until 2030-01-02" },
  { path: "statement",         words: "demo" },
  { path: "settlement list",   words: "demo" },
  { path: "order show",        words: "<order>" },
  { path: "doubt list",        words: "" },
  { path: "chargeback list",   words: "" },
  { path: "chargeback evidence", words: "1", isRefused: true },
  { path: "callback list",     words: "" },
  { path: "callback show",     words: "<order>", isRefused: true },
  { path: "card show",         words: "demo <card>" },
  { path: "bin count",         words: "" },
  { path: "bin find",          words: "400000" },
  { path: "cell list",         words: "" },
  { path: "restore status",    words: "" },
];

/** Examples that read, and need the key-encryption key for it. */
export const lookingWithKeys: readonly Example[] = [
  { path: "key list", words: "" },
  { path: "key recipient", words: "" },
  { path: "wallet key list", words: "" },
];

/** Commands that run until they are stopped. */
export const endless = ["callback listen", "start", "serve"];

/** The command line has no node, and some actions need the engine of one. */
const actions = (await loadAllActions()).filter(({ needsNode }) => needsNode !== true);
/** A field with a right of its own needs an example of its own, which leaves an audit entry. */
const withRights = actions.flatMap(({ name, fields }) =>
  Object.entries(fields).flatMap(([field, { right }]) =>
    right === undefined ? [] : [[`${name} --${field}`, [right, "change"]] as const],
  ),
);
const table: Readonly<Record<string, readonly [right: Right, mode: string]>> = {
  ...Object.fromEntries(
    [...actions, ...(await loadMachineCommands())].flatMap(({ name, right, mode }) =>
      right === undefined || mode === undefined ? [] : [[name, [right, mode] as const]],
    ),
  ),
  ...Object.fromEntries(withRights),
};

export function commandsOf(...modes: readonly string[]): readonly string[] {
  return Object.entries(table)
    .filter(([, [, mode]]) => modes.includes(mode))
    .map(([path]) => path);
}

export type Values = Map<string, string>;

/** Runs an example, and keeps the values that later examples need. */
export async function runExample(
  world: Parameters<typeof runGwWith>[1],
  example: Example,
  values: Values,
): Promise<Ran> {
  const filled = fill(example, values);
  const [command, flag] = example.path.split(" --");
  const given = `${command} ${filled}`.split(" ").filter(Boolean);
  const flags = flag === undefined ? [] : [`--${flag}`];
  const ran = await runGwWith(example.input ?? "", world, ...given, ...flags, "--json");
  if (ran.code === 0 && example.keep) keepFrom(example, JSON.parse(ran.printed), values);
  return ran;
}

export function keepFrom({ keep }: Example, output: object, values: Values): void {
  if (keep !== undefined) values.set(keep[0], String(Reflect.get(output, keep[1])));
}

/** Returns the words with the values that they name. */
export function fill({ path, words }: Pick<Example, "path" | "words">, values: Values): string {
  const others = () => {
    const { fields = {} } = actions.find(({ name }) => name === path) ?? {};
    return Object.entries(fields)
      .filter(([name, { isWord }]) => !isWord && !words.includes(`--${written(name)} `))
      .flatMap(([name, field]) => wordsFor(name, field))
      .join(" ");
  };
  return words.replace("<others>", others).replace(/<(\w+)>/g, (_, name) => values.get(name) ?? "");
}

/** Writes the files that examples name. */
export async function writeExampleFiles(folder: string, publicKey: string): Promise<void> {
  const files = {
    "gateway.yaml": "merchants:\n  applied: {}\n",
    "public.pem": publicKey,
    "logo.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
    "list.csv": "list,kind,value\nblock,email,worse@shop.example\n",
    "bins.csv": "bin,bank\n400000,Test Bank\n",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

/**
 * Returns one command for a right. Every other command with that right is refused by the same
 * check.
 */
export function exampleOf(right: Right): Example | undefined {
  return [...looking, ...changing].find(({ path }) => table[path]?.[0] === right);
}

export type RoleCell = { readonly role: Role; readonly right: Right; readonly isAllowed: boolean };

/** Rights that only routes of the portal need. */
const portalRights: readonly Right[] = ["share_views"];

/**
 * Returns a cell for each role and right. The roles of a merchant are for the portal and run no
 * command.
 */
export function roleCells(): readonly RoleCell[] {
  return roles.flatMap((role) =>
    rights
      .filter((right) => !portalRights.includes(right))
      .map((right) => ({
        role,
        right,
        isAllowed: !role.startsWith("merchant-") && hasRight(role, right),
      })),
  );
}
