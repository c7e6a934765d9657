/** Finds the reasons for which a gateway in staging or production must not start. */
import { X509Certificate } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  findDirectoryFault,
  findGateFault,
  isLocalHost,
} from "../administration/installation/rehearsal.ts";
import { demonstrationLogin } from "../administration/merchants/merchant-set.ts";
import { readConfiguration } from "../administration/session.ts";
import { allows, type Config, stagingKeyFile } from "../config/config.ts";
import { type Allowance, settings } from "../config/settings.ts";
import type { Installation } from "../installation/installation.ts";
import { loadDirectories } from "../storage/configuration/directories.ts";
import { examineLink } from "../storage/schema/examine.ts";
import type { DirectoryServer } from "../threeds/directory-client.ts";
import { messageOf, Problem } from "../values/problem.ts";

/** The returned problem contains one sentence for each reason that prevents the start. */
export async function refuseStart(installation: Installation): Promise<Problem | undefined> {
  const { config, database } = installation;
  if (config.environment !== "production") return refuseStaging(config);
  const { merchants, gates } = await readConfiguration(installation);
  const directories = await loadDirectories(database.query);
  const sentences: string[] = [];
  if (merchants.some(({ login }) => login === demonstrationLogin)) {
    sentences.push("This database has the demonstration merchant: use another for production.");
  }
  for (const gate of gates.values()) {
    const { name, settings: own } = gate;
    const fault = findGateFault(config, `The gate ${name}`, gate);
    if (fault !== undefined) {
      sentences.push(fault.sentence);
    } else if (own.tls !== true && !allows(config, "plain-gates")) {
      sentences.push(`The gate ${name} uses plain TCP: ${orAllow("use --tls on", "plain-gates")}`);
    }
  }
  for (const { name, settings: own } of directories) {
    const fault = findDirectoryFault(config, `The directory server ${name}`, own);
    if (fault !== undefined) sentences.push(fault.sentence);
  }
  sentences.push(...(await findPlainLinks(installation)), ...findAuditTroubles(config));
  sentences.push(...(await findLogTroubles(config)));
  sentences.push(...findPlainTroubles(config), ...findResultTroubles(config, directories));
  sentences.push(...(await findSandboxRoots("GW_WALLETA_ROOTS_FILE", config.walletaRootsFile)));
  sentences.push(...(await findSandboxRoots("GW_WALLETB_ROOT_KEYS", config.walletbRootKeys)));
  if (resolve(config.masterKeyFile) === stagingKeyFile(config)) {
    sentences.push("GW_MASTER_KEY_FILE is the key that staging made: make one of your own.");
  }
  return sentences.length === 0 ? undefined : new Problem(sentences.join("\n"));
}

/** In production, the gateway serves the portal and the documentation, but does not build them. */
export function findUnbuilt(root = join(import.meta.dirname, "../..")): readonly string[] {
  const unbuilt = Object.entries({ "The portal": "portal", "The documentation": "docs-site" });
  return unbuilt
    .filter(([, folder]) => !existsSync(join(root, folder, "dist", "index.html")))
    .map(([what, folder]) => {
      return `${what} is not built: run \`npm ci && node ${folder}/build.ts\` in ${root}.`;
    });
}

const orAllow = (advice: string, what: Allowance) => `${advice}, or add ${what} to GW_ALLOW.`;

/** Other machines must not reach staging, whose documentation shows a merchant's key. */
function refuseStaging(config: Config): Problem | undefined {
  if (isLocalHost(config.host) || allows(config, "public-staging")) return undefined;
  return new Problem(
    `GW_HOST is ${config.host}, and staging shows everyone the demonstration merchant's key: ` +
      orAllow("set GW_HOST to 127.0.0.1", "public-staging"),
  );
}

/** Unreachable cells are skipped, because a node can start without them. */
async function findPlainLinks(installation: Installation): Promise<readonly string[]> {
  const { cells, unreachableCells, config } = installation;
  if (allows(config, "plain-database")) return [];
  const names = cells.names().filter((name) => !unreachableCells.includes(name));
  const links = await Promise.all(
    names.map((name) => examineLink(cells.databasesOf(name).node.query).catch(() => undefined)),
  );
  const advice = "add sslmode=verify-full and sslrootcert to its address";
  return names
    .filter((_, index) => links[index] === "plain text")
    .map((name) => {
      const fault = `The database of the cell ${name} is reached without TLS`;
      return `${fault}: ${orAllow(advice, "plain-database")}`;
    });
}

function findAuditTroubles(config: Config): readonly string[] {
  const isOutside = config.auditHeadFile !== "" || config.auditHeadUrl !== "";
  if (isOutside || allows(config, "local-audit")) return [];
  const advice = orAllow("set GW_AUDIT_HEAD_FILE or GW_AUDIT_HEAD_URL", "local-audit");
  return [`The database's owner could shorten the audit unnoticed: ${advice}`];
}

/** Without a log, an operator cannot find out later what the gateway did. */
async function findLogTroubles(config: Config): Promise<readonly string[]> {
  if (config.logFile === "" || allows(config, "unwritable-log")) return [];
  const fault = await findWriteFault(config.logFile, { isRotated: true });
  const advice = orAllow("make its folder writable, or set GW_LOG_FILE", "unwritable-log");
  return fault === undefined ? [] : [`The log cannot be written (${fault}): ${advice}`];
}

/** If the log file is missing or is rotated, the process must be able to write to its folder. */
export function findWriteFault(
  file: string,
  { isRotated }: { readonly isRotated: boolean },
): Promise<string | undefined> {
  const checkFolder = () => access(dirname(resolve(file)), constants.W_OK | constants.X_OK);
  return access(file, constants.W_OK)
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      return checkFolder();
    })
    .then(() => (isRotated ? checkFolder() : undefined))
    .then(() => undefined, messageOf);
}

/**
 * Merchants' requests could arrive unencrypted if other machines can reach the merchant port, the
 * port has no TLS, and no trusted proxy is set.
 */
function findPlainTroubles(config: Config): readonly string[] {
  const { host, tlsCertificateFile, trustedProxies } = config;
  const isLocal = isLocalHost(host);
  const hasProxies = trustedProxies !== settings.trustedProxies.production;
  if (isLocal || tlsCertificateFile !== "" || hasProxies) return [];
  return [
    `GW_HOST is ${host}, and merchants' requests would come unencrypted: set ` +
      "GW_TLS_CERTIFICATE_FILE and GW_TLS_KEY_FILE, or GW_TRUSTED_PROXIES to your proxies, " +
      "or GW_HOST to 127.0.0.1 where the proxy runs on this machine.",
  ];
}

/** Finds settings with which results of 3-D Secure do not arrive, or others could forge them. */
export function findResultTroubles(
  config: Config,
  directories: readonly DirectoryServer[],
): readonly string[] {
  const posting = directories.filter(
    ({ settings: own }) => own.url !== undefined && (own.sandbox !== true || config.rehearsal),
  );
  if (posting.length === 0) return [];
  const needed = ["resultsUrl", "resultsCertificateFile", "resultsKeyFile"] as const;
  const unset = needed.filter((key) => config[key] === "").map((key) => settings[key].name);
  const unnamed = posting.filter(({ settings: { resultsName } }) => !resultsName);
  return [
    ...unset.map(
      (name) => `${name} is not set: directory servers cannot post the results of challenges.`,
    ),
    ...unnamed.map(
      ({ name }) =>
        `The directory server ${name} has no --results-name: ` +
        "every holder of a certificate of the same authority could post its results.",
    ),
  ];
}

/** Refuses the sandbox's roots, for which the owner of a sandbox can sign wallet payment data. */
export async function findSandboxRoots(name: string, place: string): Promise<readonly string[]> {
  const isFile = place !== "" && !place.startsWith("https://");
  const text = isFile ? await readFile(place, "utf8").catch(() => "") : "";
  const blocks = text.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
  const subjects = blocks.map(subjectOf);
  if (subjects.includes(undefined)) return [`${name} has a PEM block that is no certificate.`];
  // The sandbox marks its roots by a file `SANDBOX` in their folder, by the word `sandbox` in a
  // certificate's subject, or by `"sandbox": true` in a file of keys.
  const isSandbox =
    (isFile && existsSync(join(dirname(place), "SANDBOX"))) ||
    subjects.some((subject) => /sandbox/i.test(subject ?? "")) ||
    /"sandbox"\s*:\s*true/.test(text);
  return isSandbox ? [`${name} trusts the sandbox's wallets: use the wallet's own.`] : [];
}

function subjectOf(pem: string): string | undefined {
  try {
    return new X509Certificate(pem).subject;
  } catch {
    return undefined;
  }
}
