/** The options of `gw directory put`, read into a directory server's settings. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { DirectoryServer, DirectorySettings } from "../threeds/directory-client.ts";
import type { Network } from "../values/card-number.ts";
import { Problem } from "../values/problem.ts";
import {
  applyChange,
  changeOf,
  mergeChanges,
  orNone,
  type Read,
  readText,
} from "./option-values.ts";

export type DirectoryOptions = {
  readonly networks?: string;
  readonly url?: string;
  readonly url102?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly authority?: string;
  readonly resultsName?: string;
  readonly paresRoots?: string;
  readonly referenceNumber?: string;
  readonly operatorId?: string;
  readonly requestorId?: string;
  readonly requestorName?: string;
  readonly requestorUrl?: string;
  readonly sandbox?: boolean;
};

type ExistingOrder = Pick<DirectoryServer, "networks"> & {
  readonly settings: Partial<DirectorySettings>;
};

// biome-ignore format: a table
const networks: readonly Network[] = ["VISA", "MASTERCARD", "AMEX", "DISCOVER", "JCB", "UNIONPAY", "DINERS", "MAESTRO", "MIR"];

// biome-ignore format: a table
const required: readonly (readonly [option: string, setting: keyof DirectorySettings])[] = [
  ["--certificate",      "certificateFile"],
  ["--key",              "keyFile"],
  ["--authority",        "authorityFile"],
  ["--reference-number", "referenceNumber"],
  ["--operator-id",      "operatorId"],
  ["--requestor-id",     "requestorId"],
  ["--requestor-name",   "requestorName"],
  ["--requestor-url",    "requestorUrl"],
];

/** Only what is given changes; one that is not known yet must be given all that it needs. */
export function readDirectory(
  options: DirectoryOptions,
  known: ExistingOrder = { networks: [], settings: {} },
): Omit<DirectoryServer, "name"> | Problem {
  const meant = options.networks === undefined ? known.networks : readNetworks(options.networks);
  if (meant instanceof Problem) return meant;
  const change = readChange(options);
  if (change instanceof Problem) return change;
  const settings = applyChange(known.settings, change);
  const missing = required.filter(([, name]) => settings[name] === undefined);
  const without = missing.map(([option]) => option);
  if (settings.url === undefined && settings.url102 === undefined) without.unshift("--url");
  if (settings.url102 !== undefined && settings.paresRootsFile === undefined) {
    without.push("--pares-roots");
  }
  if (without.length > 0 || !isComplete(settings)) {
    return new Problem(`A directory server also needs ${without.join(", ")}.`);
  }
  return findFileFault(settings) ?? { networks: meant, settings };
}

function readChange(options: DirectoryOptions) {
  const https = (option: string) =>
    readText(option, /^https:\/\/[^\s/]+\S*$/, "an address that begins with https://");
  const words = (option: string, max: number) =>
    readText(option, new RegExp(`^[\\x20-\\x7e]{1,${max}}$`), `text of at most ${max} characters`);
  // biome-ignore format: a table
  return mergeChanges<DirectorySettings>([
    changeOf("url",             options.url,             orNone(https("--url"))),
    changeOf("url102",          options.url102,          orNone(https("--url102"))),
    changeOf("certificateFile", options.certificate,     readPath),
    changeOf("keyFile",         options.key,             readPath),
    changeOf("authorityFile",   options.authority,       readPath),
    changeOf("resultsName",     options.resultsName,     orNone(words("--results-name", 64))),
    changeOf("paresRootsFile",  options.paresRoots,      orNone(readPath)),
    changeOf("referenceNumber", options.referenceNumber, words("--reference-number", 32)),
    changeOf("operatorId",      options.operatorId,      words("--operator-id", 32)),
    changeOf("requestorId",     options.requestorId,     words("--requestor-id", 35)),
    changeOf("requestorName",   options.requestorName,   words("--requestor-name", 40)),
    changeOf("requestorUrl",    options.requestorUrl,    https("--requestor-url")),
    options.sandbox === undefined ? {} : { sandbox: options.sandbox },
  ]);
}

/** From wherever the gateway is started later. */
const readPath: Read<string> = (text) => resolve(text);

function readNetworks(text: string): readonly Network[] | Problem {
  if (text === "all") return [];
  const named = text.toUpperCase().split(",");
  const found = networks.filter((network) => named.includes(network));
  if (found.length === named.length) return found;
  return new Problem(`--networks is \`all\`, or some of ${networks.join(",")}.`);
}

function isComplete(settings: Partial<DirectorySettings>): settings is DirectorySettings {
  return required.every(([, name]) => settings[name] !== undefined);
}

/** Better found now than by the first cardholder. */
function findFileFault(settings: DirectorySettings): Problem | undefined {
  const { certificateFile, keyFile, authorityFile, paresRootsFile } = settings;
  const certificates = [certificateFile, authorityFile, paresRootsFile].filter(
    (file) => file !== undefined,
  );
  for (const file of certificates) {
    const fault = findFault(() => new X509Certificate(readFileSync(file)));
    if (fault !== undefined) return new Problem(`${file} is no certificate in PEM: ${fault}.`);
  }
  const fault = findFault(() => createPrivateKey(readFileSync(keyFile)));
  if (fault !== undefined) return new Problem(`${keyFile} is no private key: ${fault}.`);
  const own = new X509Certificate(readFileSync(certificateFile));
  return own.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))
    ? undefined
    : new Problem(`${keyFile} is not the key of the certificate ${certificateFile}.`);
}

function findFault(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
