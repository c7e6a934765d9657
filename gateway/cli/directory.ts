/** `gw directory`: the directory servers of 3-D Secure, and their card ranges. */
import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { loadDirectories, makeDirectoryAdministration } from "../storage/directories.ts";
import {
  type DirectoryServer,
  type DirectorySettings,
  findFileFaults,
  readCertificates,
} from "../threeds/directory-client.ts";
import type { Network } from "../values/card-number.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import {
  findNameFault,
  type GivenOptions,
  orNone,
  type Read,
  readFlag,
  readSettings,
  readText,
  required,
  type SettingOption,
  setting,
} from "./options.ts";
import { findDirectoryFault } from "./rehearsal.ts";

// biome-ignore format: a table
const networks: readonly Network[] = ["VISA", "MASTERCARD", "AMEX", "DISCOVER", "JCB", "UNIONPAY", "DINERS", "MAESTRO", "MIR"];

type Values = DirectorySettings & Pick<DirectoryServer, "networks">;

const https = readText(/^https:\/\/[^\s/]\S*$/, "an address that begins with https://");
const words = (max: number) =>
  readText(new RegExp(`^[\\x20-\\x7e]{1,${max}}$`), `text of at most ${max} characters`);
/** Absolute: the gateway may be started in another folder. */
const readPath: Read<string> = (text) => resolve(text);

// biome-ignore format: a table
export const directoryTable: readonly SettingOption<Values>[] = [
  setting("--networks <names>",        "its card networks, by commas, or `all`",                           "networks",        readNetworks),
  setting("--url <url>",               "its address for messages of EMV 3-D Secure, or `none`",            "url",             orNone(https), ({ url102 }) => url102 === undefined),
  setting("--url102 <url>",            "its address for messages of 3-D Secure 1.0.2, or `none`",          "url102",          orNone(https)),
  setting("--certificate <file>",      "the gateway's client certificate, in PEM",                         "certificateFile", readPath, required),
  setting("--key <file>",              "the private key of that certificate",                              "keyFile",         readPath, required),
  setting("--authority <file>",        "the authority of the server's own certificates, in PEM",           "authorityFile",   readPath, required),
  setting("--results-name <name>",     "common name of the certificate with which it posts results",       "resultsName",     orNone(words(64))),
  setting("--pares-roots <file>",      "root certificates of issuers' signatures in 1.0.2, or `none`",     "paresRootsFile",  orNone(readPath), ({ url102 }) => url102 !== undefined),
  setting("--reference-number <text>", "the 3DS Server reference number",                                  "referenceNumber", words(32), required),
  setting("--operator-id <text>",      "the 3DS Server operator id",                                       "operatorId",      words(32), required),
  setting("--requestor-id <text>",     "the 3DS Requestor's id",                                           "requestorId",     words(35), required),
  setting("--requestor-name <text>",   "the 3DS Requestor's name",                                         "requestorName",   words(40), required),
  setting("--requestor-url <url>",     "the 3DS Requestor's web site",                                     "requestorUrl",    https, required),
  setting("--sandbox",                 "it belongs to a sandbox bank; for staging and rehearsals",              "sandbox",         (text) => readFlag(text) || undefined),
];

const noSandbox = new Option("--no-sandbox", "it does not belong to a sandbox bank");

export function addDirectoryCommands(directory: Command): void {
  const options = [...directoryTable.map(({ option }) => option), noSandbox];
  // biome-ignore format: a table
  addCommands(directory, [
    ["list",           "list all directory servers, with the number of their card ranges",   listDirectories],
    ["show <name>",    "show a directory server with its settings",                          showDirectory],
    ["put <name>",     "create a directory server, or change the given settings of one",     putDirectory, options],
    ["refresh <name>", "request its card ranges now",                                        refreshDirectory],
    ["remove <name>",  "remove a directory server with its card ranges",                     removeDirectory],
  ]);
}

async function listDirectories({ audit, database }: Session): Promise<Output> {
  const ranges = await makeDirectoryAdministration(audit, database.query).countRanges();
  const known = await loadDirectories(database.query);
  const faults = await findFileFaults(known);
  return known.map(({ name, networks: served, settings: own }) => ({
    name,
    networks: served.join(",") || "all",
    url: own.url ?? "none",
    url102: own.url102 ?? "none",
    ranges: ranges.get(name)?.count ?? 0,
    "ranges due": ranges.get(name)?.dueAt ?? "",
    files: faults.get(name) ?? "good",
  }));
}

async function showDirectory(session: Session, name: string): Promise<Output> {
  const server = await find(session, name);
  return server === undefined ? unknown(name) : describe(server);
}

async function putDirectory(session: Session, name: string, options: GivenOptions) {
  const nameFault = findNameFault(name);
  if (nameFault !== undefined) return nameFault;
  const { settings: known, networks: served = [] } = (await find(session, name)) ?? {};
  const before = { ...known, networks: served };
  const values = readSettings(directoryTable, options, before, "A directory server");
  if (values instanceof Problem) return values;
  const { networks: meant, ...own } = values;
  const fault =
    findDirectoryFault(session.config, "The directory server", own) ?? (await findFileFault(own));
  if (fault !== undefined) return fault;
  const server = { name, networks: meant, settings: own };
  await makeDirectoryAdministration(session.audit, session.database.query).put(server);
  return describe(server);
}

async function refreshDirectory({ audit, database }: Session, name: string): Promise<Output> {
  const known = await makeDirectoryAdministration(audit, database.query).refresh(name);
  if (!known) return unknown(name);
  return { refreshed: name, note: "a running node requests its card ranges now" };
}

async function removeDirectory({ audit, database }: Session, name: string): Promise<Output> {
  const known = await makeDirectoryAdministration(audit, database.query).remove(name);
  return known ? { removed: name } : unknown(name);
}

async function find({ database }: Session, name: string) {
  return (await loadDirectories(database.query)).find((server) => server.name === name);
}

/** By the options that set them. */
function describe({ name, networks: served, settings: own }: DirectoryServer) {
  const known = { ...own, networks: served.join(",") || "all" };
  const pairs = directoryTable.map(({ option, setting: key }) => [option.name(), known[key]]);
  return { name, ...Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) };
}

function unknown(name: string): Problem {
  return new Problem(`There is no directory server ${name}: see \`gw directory list\`.`);
}

function readNetworks(text: string, option: string): readonly Network[] | Problem {
  if (text === "all") return [];
  const named = text.toUpperCase().split(",");
  const found = networks.filter((network) => named.includes(network));
  if (found.length === named.length) return found;
  return new Problem(`${option} is \`all\`, or some of ${networks.join(",")}.`);
}

/** Found here and not by the first payment. */
export async function findFileFault(own: DirectorySettings): Promise<Problem | undefined> {
  try {
    const { paresRoots } = await readCertificates(own);
    for (const root of paresRoots) new X509Certificate(root);
    const lacksRoots = own.paresRootsFile !== undefined && paresRoots.length === 0;
    return lacksRoots ? new Problem(`${own.paresRootsFile} has no certificate.`) : undefined;
  } catch (error) {
    return new Problem(`The files cannot be used: ${messageOf(error)}.`);
  }
}
