/**
 * The commands that the portal offers too; `tools/portal-commands.test.ts` says where the others
 * are. A merchant's user may give those alone whose subject belongs to that merchant.
 */
import { gateKinds } from "../acquirers/gates.ts";
import { listKinds } from "../screening/list-kinds.ts";
import { listNames } from "../screening/lists.ts";

/** How the merchant is found that a command is about; `operator` where there is none. */
export type Owner = "operator" | "login" | "endpoint" | "endpointWord" | "link" | "walletKey";

export type Offer = {
  readonly owner: Owner;
  /** What stands on standard input, or in the file that the command reads. */
  readonly input?: "secret" | "file";
  /**
   * It asks a host or reads many rows: nothing is tried beforehand, and one runs at a time. What
   * may take hours is begun, and goes on without the user.
   */
  readonly isLong?: "minutes" | "hours";
};

// biome-ignore format: a table
export const offers: Readonly<Record<string, Offer>> = {
  "merchant create":            { owner: "operator" },
  "merchant show":              { owner: "login" },
  "merchant set":               { owner: "operator" },
  "merchant enable":            { owner: "operator" },
  "merchant disable":           { owner: "operator" },
  "merchant control-key renew": { owner: "login" },
  "merchant control-key set":   { owner: "login", input: "secret" },
  "merchant control-key drop":  { owner: "login" },
  "merchant key add":           { owner: "login", input: "file" },
  "merchant key remove":        { owner: "login" },
  "endpoint create":            { owner: "operator" },
  "endpoint set":               { owner: "operator" },
  "endpoint gates":             { owner: "operator" },
  "group create":               { owner: "operator" },
  "group set":                  { owner: "operator" },
  "gate create":                { owner: "operator" },
  "gate set":                   { owner: "operator" },
  "gate remove":                { owner: "operator" },
  "gate mac-key list":          { owner: "operator" },
  "gate mac-key set":           { owner: "operator", input: "secret" },
  "gate mac-key drop":          { owner: "operator" },
  "gate mac-key zone":          { owner: "operator", input: "secret" },
  "gate mac-key drop-zone":     { owner: "operator" },
  "gate mac-key exchange":      { owner: "operator", isLong: "minutes" },
  "directory list":             { owner: "operator" },
  "directory show":             { owner: "operator" },
  "directory put":              { owner: "operator" },
  "directory refresh":          { owner: "operator" },
  "directory remove":           { owner: "operator" },
  "wallet set":                 { owner: "operator" },
  "wallet domain-file list":    { owner: "operator" },
  "wallet domain-file set":     { owner: "operator", input: "file" },
  "wallet domain-file remove":  { owner: "operator" },
  "wallet key list":            { owner: "operator" },
  "wallet key make":            { owner: "login" },
  "wallet key certify":         { owner: "walletKey", input: "file" },
  "wallet key remove":          { owner: "walletKey" },
  "filter add":                 { owner: "operator" },
  "filter change":              { owner: "operator" },
  "filter enable":              { owner: "operator" },
  "filter disable":             { owner: "operator" },
  "filter remove":              { owner: "operator" },
  "filter try":                 { owner: "operator", isLong: "minutes" },
  "list show":                  { owner: "operator" },
  "list add":                   { owner: "operator" },
  "list remove":                { owner: "operator" },
  "list import":                { owner: "operator", input: "file" },
  "link create":                { owner: "endpoint" },
  "link close":                 { owner: "link" },
  "reconcile":                  { owner: "operator", input: "file", isLong: "minutes" },
  "chargeback list":            { owner: "operator" },
  "chargeback import":          { owner: "operator", input: "file", isLong: "minutes" },
  "callback secret":            { owner: "endpointWord" },
  "key list":                   { owner: "operator" },
  "key rotate":                 { owner: "operator", isLong: "hours" },
};

/** Of `gw` alone: they name files on the machine, or how its output looks. */
export const ownOptions = [
  ...["--json", "--why", "--progress", "--svg", "--file", "--previous", "--next"],
] as const;

/** A picture is sent, and not looked for on the gateway's disk. */
export const sentOptions = ["--shop-logo"] as const;

/** Words that the usage does not spell out. */
export const wordsOf: Readonly<Record<string, readonly string[]>> = {
  "list add list": listNames,
  "list add kind": listKinds.map(({ name }) => name),
  "wallet key make use": ["walleta", "walletb", "walleta-identity"],
  "list show --list": listNames,
  "list show --kind": listKinds.map(({ name }) => name),
  "filter change --action": ["block", "3ds", "mark", "allow"],
  "filter add --action": ["block", "3ds", "mark", "allow"],
  ...bothForms("endpoint", "--3ds", ["off", "when_possible", "always"]),
  ...bothForms("gate", "--kind", gateKinds),
  ...bothForms("gate", "--partial-as", ["reversal", "refund"]),
};

/** Of something that is made and changed by the same options. */
function bothForms(what: string, option: string, words: readonly string[]) {
  return { [`${what} create ${option}`]: words, [`${what} set ${option}`]: words };
}
