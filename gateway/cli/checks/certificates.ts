/**
 * The checks of `gw doctor` for gates, directory servers, certificates and keys. They report
 * unencrypted connections, and certificates and keys that expire soon.
 */
import { X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { certificateFilesOf, leadsToSandbox } from "../../acquirers/gates.ts";
import { findGateFault } from "../../administration/installation/rehearsal.ts";
import { daysLeft, readCertificateFiles } from "../../certificates/certificate-files.ts";
import { listUnauthenticated } from "../../storage/cards/mac-keys.ts";
import { loadGates } from "../../storage/configuration/configuration.ts";
import { loadDirectories } from "../../storage/configuration/directories.ts";
import {
  findEndingWalletKeys,
  findOldControlKeys,
  findOverdueKeys,
} from "../../storage/schema/examine.ts";
import { findFileFaults } from "../../threeds/directory-client.ts";
import { messageOf } from "../../values/problem.ts";
import { systemClock } from "../../values/time.ts";
import { findResultTroubles } from "../environment.ts";
import type { MachineSession } from "../machine-command.ts";
import {
  type Check,
  type CheckResult,
  describeExpiry,
  expirySoonDays,
  listOf,
  together,
} from "./check.ts";

export const certificateChecks: readonly Check[] = [
  ["gates", "sandbox gates, plain TCP, client certificates, message authentication", checkGates],
  [
    "directories",
    "directory servers: their files, plain HTTP, results of challenges",
    checkDirectories,
  ],
  ["certificates", "certificates of the ports, and those for directory servers", checkCertificates],
  [
    "authorities",
    "the file of `NODE_EXTRA_CA_CERTS`: certificates that the service can read",
    checkAuthorities,
  ],
  ["wallet keys", "certificates of wallets' keys", checkWalletKeys],
  ["mac keys", "hosts that have stopped delivering keys", checkMacKeys],
  ["control keys", "old control keys that still count", checkControlKeys],
];

async function checkGates({ database, config }: MachineSession): Promise<CheckResult> {
  const gates = await loadGates(database.query);
  const found: Omit<CheckResult, "what">[] = [];
  for (const gate of gates) {
    const { name, settings } = gate;
    const fault = findGateFault(config, `The gate ${name}`, gate);
    if (fault !== undefined) found.push({ troubles: [fault.sentence] });
    if (settings.tls !== true) {
      const plain = `The gate ${name} uses plain TCP: card numbers cross its line unencrypted.`;
      found.push({
        warnings: leadsToSandbox(gate) ? [] : [`${plain} Use --tls on, or a private line.`],
      });
      continue;
    }
    const texts = await readCertificateFiles(certificateFilesOf(settings)).catch(messageOf);
    if (typeof texts === "string") {
      found.push({ troubles: [`Files of the gate ${name} cannot be used: ${texts}.`] });
      continue;
    }
    const days = daysLeft(texts.cert, systemClock.now());
    found.push(describeExpiry(`The client certificate of the gate ${name}`, days));
  }
  const unauthenticated = (await listUnauthenticated(database.query)).map(({ name, hasZoneKey }) =>
    hasZoneKey
      ? `${name} has a zone key and no key for codes: run gw gate mac-key exchange.`
      : `${name} authenticates no message any more: its last key was dropped.`,
  );
  const what = `gates: ${listOf(gates.map(({ name }) => name))}`;
  return together(what, [...found, { warnings: unauthenticated }]);
}

async function checkDirectories({ database, config }: MachineSession): Promise<CheckResult> {
  const directories = await loadDirectories(database.query);
  const faults = [...(await findFileFaults(directories))];
  const plain = directories.filter(({ settings: { url = "", url102 = "", sandbox } }) =>
    [url, url102].some((each) => each.startsWith("http://") && sandbox !== true),
  );
  return {
    what: `directory servers: ${listOf(directories.map(({ name }) => name))}`,
    troubles: [
      ...faults.map(([name, cause]) => `Files of ${name} cannot be used: ${cause}.`),
      ...plain.map(({ name }) => `${name} has an http:// address: production uses https:// alone.`),
      ...findResultTroubles(config, directories),
    ],
  };
}

async function checkCertificates({ database, config }: MachineSession): Promise<CheckResult> {
  const now = systemClock.now();
  const directories = await loadDirectories(database.query);
  const { tlsCertificateFile, tlsKeyFile, resultsCertificateFile, resultsKeyFile } = config;
  const shown = [
    [
      "The certificate of the merchant port (GW_TLS_CERTIFICATE_FILE)",
      { certificateFile: tlsCertificateFile, keyFile: tlsKeyFile },
      config.baseUrl,
    ],
    [
      "The certificate of the results port (GW_RESULTS_CERTIFICATE_FILE)",
      { certificateFile: resultsCertificateFile, keyFile: resultsKeyFile },
      config.resultsUrl,
    ],
    ...directories.map(
      ({ name, settings }) => [`The client certificate for ${name}`, settings, ""] as const,
    ),
  ] as const;
  const used = shown.filter(([, { certificateFile }]) => certificateFile !== "");
  const found = used.map(async ([whose, { certificateFile, keyFile }, url]) => {
    const texts = await readCertificateFiles({ certificateFile, keyFile }).catch(messageOf);
    if (typeof texts === "string") return { troubles: [`${whose} cannot be used: ${texts}.`] };
    const name = findUncovered(texts.cert ?? "", url);
    const uncovered = name === undefined ? [] : [`${whose} is not for ${name}: get one that is.`];
    return together("", [
      describeExpiry(whose, daysLeft(texts.cert, now)),
      { troubles: uncovered },
    ]);
  });
  return together(`certificates: ${used.length}`, await Promise.all(found));
}

/**
 * If Node.js cannot read the file in `NODE_EXTRA_CA_CERTS`, it only prints a warning when it
 * starts, and then trusts only the public certificate authorities.
 */
async function checkAuthorities(): Promise<CheckResult> {
  const file = process.env["NODE_EXTRA_CA_CERTS"] ?? "";
  const what = `additional authorities: ${file || "none"}`;
  if (file === "") return { what };
  const consequence = "calls to servers with such a certificate fail, callbacks among them";
  const text = await readFile(file, "utf8").catch(messageOf);
  const [block = ""] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text) ?? [];
  if (!isCertificate(block)) {
    const cause = /^E[A-Z]+: /.test(text) ? text : "it has no certificate";
    return { what, troubles: [`NODE_EXTRA_CA_CERTS cannot be used (${cause}): ${consequence}.`] };
  }
  const { uid, mode } = await stat(file);
  if (uid !== 0 || (mode & 0o044) !== 0) return { what };
  const closed = `Root alone can read ${file}: where the service is another user, ${consequence}`;
  return { what, warnings: [`${closed}. Give it to the service's group and chmod 640.`] };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

/** Returns the URL's host name if the certificate is not valid for this name. */
function findUncovered(certificate: string | Buffer, url: string): string | undefined {
  if (url === "") return undefined;
  const { hostname } = new URL(url);
  const read = new X509Certificate(certificate);
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  const isCovered = isIP(name) === 0 ? read.checkHost(name) : read.checkIP(name);
  return isCovered === undefined ? name : undefined;
}

async function checkWalletKeys({ database }: MachineSession): Promise<CheckResult> {
  const ending = await findEndingWalletKeys(database.query, expirySoonDays);
  return together(
    `wallet keys that end within ${expirySoonDays} days: ${ending.length || "none"}`,
    ending.map(({ id, wallet, days }) =>
      describeExpiry(`The certificate of the ${wallet} key ${id}`, days),
    ),
  );
}

async function checkMacKeys({ database }: MachineSession): Promise<CheckResult> {
  const overdue = await findOverdueKeys(database.query);
  const warnings = overdue.map(
    (name) => `The host of ${name} delivers no keys: run gw gate mac-key exchange ${name}.`,
  );
  return { what: `overdue deliveries of keys: ${listOf(overdue)}`, warnings };
}

async function checkControlKeys({ database }: MachineSession): Promise<CheckResult> {
  const logins = await findOldControlKeys(database.query, expirySoonDays);
  const warnings = logins.map(
    (login) =>
      `The key of ${login} was renewed more than ${expirySoonDays} days ago, and the old one ` +
      `still counts: run gw merchant control-key drop ${login}.`,
  );
  return { what: `old control keys: ${listOf(logins)}`, warnings };
}
