/**
 * Reads the environment into a `Config` once at the start. Unreadable values and values that
 * production does not permit are reported together, one sentence each.
 */
import { createHash } from "node:crypto";
import { availableParallelism, hostname, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { Problem } from "../values/problem.ts";
import {
  type Allowance,
  type Config,
  partsOf,
  type Setting,
  type SettingName,
  settings,
} from "./settings.ts";

export type { Config } from "./settings.ts";
export type Environment = Readonly<Record<string, string | undefined>>;

/** If true, the command only looks and needs no key-encryption key. */
export function readConfig(environment: Environment, needsKey = true): Config | Problem {
  const isProduction = environment["GW_ENV"] === "production";
  const problems: string[] = [];
  const values = Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
    const text = environment[setting.name];
    if (text === undefined || text === "") {
      return [key, isProduction ? setting.production : setting.staging];
    }
    const value = setting.read(text);
    if (value === undefined) problems.push(`${setting.name} must be ${setting.expects}.`);
    return [key, value];
  });
  // Each value was read by the setting that its name has in the table.
  const config = Object.fromEntries(values) as Config;
  if (problems.length === 0) problems.push(...keyProblems(config, environment));
  if (problems.length === 0 && isProduction) {
    problems.push(...productionProblems(config, environment, needsKey));
  }
  return problems.length > 0 ? new Problem(problems.join("\n")) : config;
}

/** Returns the rows of `gw config`, without the password of the database. */
export function describeConfig(environment: Environment) {
  const read = readConfig(environment);
  const config: Partial<Config> = read instanceof Problem ? {} : read;
  const databaseUrl = config.databaseUrl
    ?.replace(/\/\/([^:/@]*):[^/?#]*@/, "//$1:****@")
    .replace(/([?&](?:ssl)?password=)[^&#]*/g, "$1****");
  const shown = { ...config, databaseUrl };
  return Object.entries<Setting<unknown>>(settings).map(([key, { name, meaning }]) => ({
    name,
    value: asWritten(shown[key as SettingName]),
    origin: environment[name] === undefined || environment[name] === "" ? "default" : "environment",
    meaning,
  }));
}

/** Finds variables that begin with GW_ and are not settings, and the setting that was meant. */
export function findUnknownSettings(environment: Environment) {
  const known = Object.values<Setting<unknown>>(settings).map(({ name }) => name);
  // Variables that are not settings: the forms of the new key of `gw key rewrap`, and those of
  // tests.
  const isOther = (name: string) => /^GW_(NEW_MASTER_KEY_|TEST_|BANK_)/.test(name);
  return Object.keys(environment)
    .filter((name) => name.startsWith("GW_") && !known.includes(name) && !isOther(name))
    .map((name) => ({ name, meant: known.find((each) => distanceOf(each, name) <= nearMissMax) }));
}

const nearMissMax = 2;

/**
 * Returns how many letters must be inserted, deleted or replaced to make one word the other
 * (Levenshtein).
 */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [index, against] of [...other].entries()) {
      const replaced = (row[index] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Whether the operator has switched this refusal off by its name. */
export function allows({ allow }: Pick<Config, "allow">, what: Allowance): boolean {
  return partsOf(allow).includes(what);
}

/** Whether issuers may have http:// addresses, as those of a sandbox do. */
export function allowsHttp({ environment, rehearsal }: Config): boolean {
  return environment === "staging" || rehearsal;
}

/** Writes a switch as `on` or `off`, as the environment variables have it. */
function asWritten<Value>(value: Value) {
  if (typeof value !== "boolean") return value;
  return value ? "on" : "off";
}

/**
 * Returns the names that a node may take. They are the same after a restart, so that the node finds
 * the orders that it was running. A second node with the same data folder takes the next one.
 */
export function nodeNamesOf({ nodeName, dataDir }: Config): readonly string[] {
  if (nodeName !== "") return [nodeName];
  const place = createHash("sha256").update(resolve(dataDir)).digest("hex").slice(0, 8);
  const first = `${hostname()}-${place}`;
  return [first, ...Array.from({ length: 9 }, (_, index) => `${first}-${index + 2}`)];
}

/** Returns the name of the account of this machine. */
export function userName(): string {
  return userInfo().username;
}

/**
 * Returns the person who runs a command, and the machine. `GW_USER` names the person if several
 * share an account.
 */
export function actorOf({ user }: Config, environment: Environment) {
  const account = userName();
  const who = user === "" ? account : user;
  const place = who === account ? hostname() : `${account}@${hostname()}`;
  const address = environment["SSH_CONNECTION"]?.split(" ")[0];
  return { who, from: address === undefined ? place : `${place} from ${address}` };
}

/** More workers would need more connections under load than the embedded server has. */
const workersMaxByDefault = 8;

/**
 * Returns how many gateway processes `gw start` runs. PostgreSQL needs the other half of the cores.
 * Each process needs a connection of every gate, and a host may permit few.
 */
export function countWorkers(
  { workers }: Pick<Config, "workers">,
  gates: readonly { readonly settings: { readonly connections?: number } }[] = [],
  cores = availableParallelism(),
): number {
  const usual = Math.min(Math.max(1, Math.floor(cores / 2)), workersMaxByDefault);
  const allowed = gates.map(({ settings: { connections = linksMax } }) => connections);
  return Math.min(workers > 0 ? workers : usual, linksMax, ...allowed);
}

/** `GW_LINK_SHARE` has two digits. */
const linksMax = 99;

/**
 * Returns the position of this process, from 0, among those that divide the connections of gates.
 */
export function linkShareOf({ linkShare }: Pick<Config, "linkShare">) {
  const [place = 1, of = 1] = linkShare.split("/").map(Number);
  return { place: place - 1, of };
}

/** Returns the address that merchants use. Signatures cover it, and browsers are sent to it. */
export function baseUrlOf(config: Config, port: number): string {
  if (config.baseUrl !== "") return config.baseUrl.replace(/(?<!\/)\/+$/, "");
  const host = config.host === "0.0.0.0" || config.host === "127.0.0.1" ? "localhost" : config.host;
  return `${schemeOf(config)}://${host}:${port}`;
}

function schemeOf({ tlsCertificateFile }: Config): "https" | "http" {
  return tlsCertificateFile === "" ? "http" : "https";
}

/** Returns the addresses that a signature may cover, in staging also those of this machine. */
export function signedUrlsOf(config: Config, port: number): readonly string[] {
  const known = baseUrlOf(config, port);
  if (config.environment === "production") return [known];
  const scheme = schemeOf(config);
  return [...new Set([known, `${scheme}://localhost:${port}`, `${scheme}://127.0.0.1:${port}`])];
}

/** Returns the origins of the portal, its public one first. `port` is that of the portal. */
export function portalOriginsOf(config: Config, port: number): readonly string[] {
  const own = new URL(config.portalUrl || baseUrlOf(config, port));
  if (config.portalUrl === "" && config.portalPort !== "") own.port = String(port);
  return signedUrlsOf({ ...config, baseUrl: own.origin }, port).map((url) => new URL(url).origin);
}

/** Set for a worker, which receives the key-encryption key from its parent process. */
export const keyFromParent = "TOLLGATE_KEY_FROM_PARENT";

/** The names of the settings that give the key-encryption key, or the next one for a rewrap. */
export function keySourcesOf(
  config: Config,
  which: "masterKey" | "newMasterKey" = "masterKey",
): readonly string[] {
  const names = ["File", "", "Command", "PartFile1", "PartFile2"] as const;
  return names
    .map((name): SettingName => `${which}${name}`)
    .filter((name) => config[name] !== "")
    .map((name) => settings[name].name);
}

/** Returns the source of the present key-encryption key, or of the next one for a rewrap. */
export function masterKeySource(config: Config, which: "masterKey" | "newMasterKey" = "masterKey") {
  const isMade = which === "masterKey" && keySourcesOf(config).length === 0;
  return {
    setting: which === "masterKey" ? ("GW_MASTER_KEY" as const) : ("GW_NEW_MASTER_KEY" as const),
    file: isMade ? stagingKeyFile(config) : config[`${which}File`],
    given: config[which],
    command: config[`${which}Command`],
    partFiles: [config[`${which}PartFile1`], config[`${which}PartFile2`]] as const,
  };
}

/**
 * Returns the environment to show. A rehearsal has the settings of production, and its users must
 * see that it is a rehearsal.
 */
export function shownEnvironmentOf({ rehearsal, environment }: Config) {
  return rehearsal ? ("rehearsal" as const) : environment;
}

/** Returns the key file that staging makes for itself. */
export function stagingKeyFile({ dataDir }: Config): string {
  return join(resolve(dataDir), "keys", "master.key");
}

function keyProblems(config: Config, environment: Environment): readonly string[] {
  const problems: string[] = [];
  if ((config.tlsCertificateFile === "") !== (config.tlsKeyFile === "")) {
    problems.push("Give both GW_TLS_CERTIFICATE_FILE and GW_TLS_KEY_FILE, or neither.");
  }
  if (config.rehearsal && config.environment !== "production") {
    problems.push("GW_REHEARSAL needs GW_ENV=production: staging has a sandbox of its own.");
  }
  const isWorker = environment[keyFromParent] !== undefined;
  for (const [setting, sources] of [
    ["GW_MASTER_KEY", isWorker ? [] : keySourcesOf(config)],
    ["GW_NEW_MASTER_KEY", keySourcesOf(config, "newMasterKey")],
  ] as const) {
    const parts = sources.filter((source) => source.includes("_PART_"));
    if (sources.length - Math.max(0, parts.length - 1) > 1) {
      problems.push(`The key must come from one place: give one of ${sources.join(", ")}.`);
    } else if (parts.length === 1) {
      problems.push(`Give both ${setting}_PART_FILE_1 and ${setting}_PART_FILE_2, or neither.`);
    }
  }
  return problems;
}

function productionProblems(
  config: Config,
  environment: Environment,
  needsKey: boolean,
): readonly string[] {
  const problems: string[] = [];
  if (!config.baseUrl.startsWith("https://")) {
    problems.push("In production GW_BASE_URL must be an https:// address.");
  }
  if (!/^(https:\/\/|$)/.test(config.portalUrl)) {
    problems.push("In production GW_PORTAL_URL must be an https:// address.");
  }
  const isGiven = environment[keyFromParent] !== undefined || keySourcesOf(config).length > 0;
  if (needsKey && !isGiven) {
    problems.push(
      "In production GW_MASTER_KEY_FILE must name your key-encryption key, or another of the " +
        "GW_MASTER_KEY settings must give it.",
    );
  }
  return problems;
}

/**
 * Returns how long an order may stay in each open stage, and how long a node may keep its effect.
 */
export function deadlinesOf(config: Config) {
  return {
    stageMs: {
      filtering: config.processingDeadlineMs,
      authenticating: config.processingDeadlineMs,
      awaiting_method: config.methodDeadlineMs,
      awaiting_challenge: config.challengeDeadlineMs,
      awaiting_result: config.resultWaitMs,
      awaiting_return: config.resultGraceMs,
      awaiting_pares: config.paresDeadlineMs,
      authorizing: config.processingDeadlineMs,
      inquiring: config.processingDeadlineMs,
      reversing: config.doubtAlarmMs,
      capturing: config.processingDeadlineMs,
      returning: config.processingDeadlineMs,
      paying: config.processingDeadlineMs,
      repeating: config.doubtAlarmMs,
    },
    leaseMs: config.answerTimeoutMs + config.leaseSlackMs,
    answerTimeoutMs: config.answerTimeoutMs,
    repeatGapsMs: config.reversalGapsMs,
  };
}
