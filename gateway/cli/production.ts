/** What production does not start with, told together, one sentence each. */

import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Gate } from "../acquirers/gates.ts";
import type { Config } from "../config/config.ts";
import { settings } from "../config/settings.ts";
import { demonstrationLogin } from "../staging/demonstration.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { loadDirectories } from "../storage/directories.ts";
import type { DirectoryServer } from "../threeds/directory-client.ts";
import { Problem } from "../values/problem.ts";
import type { Installation } from "./installation.ts";
import { openVault } from "./installation.ts";
import { madeKeyFile } from "./master-key.ts";

export async function refuseInProduction(installation: Installation): Promise<Problem | undefined> {
  const { config, database } = installation;
  if (config.environment !== "production") return undefined;
  const { openSecret } = await openVault(installation);
  const { merchants, gates } = await loadConfiguration(database.query, openSecret);
  const sentences: string[] = [];
  if (merchants.some(({ login }) => login === demonstrationLogin)) {
    sentences.push("This database has the demonstration merchant: use another for production.");
  }
  for (const { name } of [...gates.values()].filter(leadsToSandbox)) {
    sentences.push(`The gate ${name} leads to a sandbox bank: remove it before production.`);
  }
  const directories = await loadDirectories(database.query);
  for (const { name } of directories.filter(({ settings }) => settings.sandbox === true)) {
    sentences.push(
      `The directory server ${name} is a sandbox bank's: remove it before production.`,
    );
  }
  sentences.push(...findResultTroubles(config, directories));
  sentences.push(...(await sandboxRoots(config)));
  if (resolve(config.masterKeyFile) === madeKeyFile(config)) {
    sentences.push("GW_MASTER_KEY_FILE is the key that staging made: make one of your own.");
  }
  return sentences.length === 0 ? undefined : new Problem(sentences.join("\n"));
}

/** What keeps the results of challenges from arriving, or lets others post them. */
export function findResultTroubles(
  config: Config,
  directories: readonly DirectoryServer[],
): readonly string[] {
  const posting = directories.filter(
    ({ settings }) => settings.url !== undefined && settings.sandbox !== true,
  );
  if (posting.length === 0) return [];
  const unset = resultSettings.filter((key) => config[key] === "").map((key) => settings[key].name);
  const sentences = unset.map(
    (name) => `${name} is not set: directory servers cannot post the results of challenges.`,
  );
  for (const { name } of posting.filter(({ settings: { resultsName } }) => !resultsName)) {
    sentences.push(
      `The directory server ${name} has no --results-name: ` +
        "whoever has a certificate of the same authority could post its results.",
    );
  }
  return sentences;
}

const resultSettings = ["resultsUrl", "resultsCertificateFile", "resultsKeyFile"] as const;

export function leadsToSandbox({ kind, settings }: Gate): boolean {
  return kind === "sandbox" || settings.sandbox === true;
}

/** Whoever trusts the sandbox's wallets believes anybody. */
async function sandboxRoots(config: Config): Promise<readonly string[]> {
  const places = [
    ["GW_WALLETA_ROOTS_FILE", config.walletaRootsFile],
    ["GW_WALLETB_ROOT_KEYS", config.walletbRootKeys],
  ] as const;
  const found = await Promise.all(
    places.map(async ([name, place]) => {
      const isFile = place !== "" && !place.startsWith("https://");
      const text = isFile ? await readFile(place, "utf8").catch(() => "") : "";
      const blocks = text.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
      const subjects = blocks.map(subjectOf);
      if (subjects.includes(undefined)) return [`${name} has a PEM block that is no certificate.`];
      // The sandbox bank marks the folder of its roots, its certificates and its keys.
      const isSandbox =
        (isFile && existsSync(join(dirname(place), "SANDBOX"))) ||
        subjects.some((subject) => /sandbox/i.test(subject ?? "")) ||
        /"sandbox"\s*:\s*true/.test(text);
      return isSandbox ? [`${name} trusts the sandbox bank's wallets: use the wallet's own.`] : [];
    }),
  );
  return found.flat();
}

function subjectOf(pem: string): string | undefined {
  try {
    return new X509Certificate(pem).subject;
  } catch {
    return undefined;
  }
}
