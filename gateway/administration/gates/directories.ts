/** The directory servers of 3-D Secure and their card ranges: list, show, put, refresh, remove. */
import { X509Certificate } from "node:crypto";
import {
  loadDirectories,
  makeDirectoryAdministration,
} from "../../storage/configuration/directories.ts";
import {
  type DirectoryServer,
  type DirectorySettings,
  findFileFaults,
  readCertificates,
} from "../../threeds/directory-client.ts";
import { type Network, networks } from "../../values/card-number.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { word, written } from "../field.ts";
import { findDirectoryFault } from "../installation/rehearsal.ts";
import { findNameFault } from "../readers.ts";
import type { Output, Session } from "../session.ts";
import {
  fieldsOf,
  form,
  type GivenSettings,
  onlyYes,
  optional,
  path,
  readSettings,
  required,
  type SettingRow,
  setting,
  text,
} from "../settings.ts";

type Values = DirectorySettings & Pick<DirectoryServer, "networks">;

const https = {
  ...text("url", /^https:\/\/[^\s/]\S*$/, "an address that begins with https://"),
  kind: "url" as const,
};
const words = (shows: string, max: number) =>
  text(shows, new RegExp(`^[\\x20-\\x7e]{1,${max}}$`), `text of at most ${max} characters`);

export const directoryTable: readonly SettingRow<Values>[] = [
  setting("networks", "networks", form("text", "names", readNetworks), [
    "its card networks, by commas, or `all`",
    "seine Kartennetze, durch Kommas getrennt, oder all",
  ]),
  setting(
    "url",
    "url",
    optional(https),
    [
      "its address for messages of EMV 3-D Secure, or `none`",
      "seine Adresse für Nachrichten von EMV 3-D Secure, oder none",
    ],
    ({ url102 }) => url102 === undefined,
  ),
  setting("url102", "url102", optional(https), [
    "its address for messages of 3-D Secure 1.0.2, or `none`",
    "seine Adresse für Nachrichten von 3-D Secure 1.0.2, oder none",
  ]),
  setting("certificate", "certificateFile", required(path), [
    "the gateway's client certificate, in PEM",
    "das Client-Zertifikat des Gateways, als PEM",
  ]),
  setting("key", "keyFile", required(path), [
    "the private key of that certificate",
    "der private Schlüssel zu diesem Zertifikat",
  ]),
  setting("authority", "authorityFile", required(path), [
    "the authority of the server's own certificates, in PEM",
    "die Zertifizierungsstelle des Servers, als PEM",
  ]),
  setting("resultsName", "resultsName", optional(words("name", 64)), [
    "common name of the certificate with which it posts results",
    "Name (CN) im Zertifikat, mit dem er Ergebnisse sendet",
  ]),
  setting(
    "paresRoots",
    "paresRootsFile",
    optional(path),
    [
      "root certificates of issuers' signatures in 1.0.2, or `none`",
      "Wurzelzertifikate der Signaturen von Herausgebern in 1.0.2, oder none",
    ],
    ({ url102 }) => url102 !== undefined,
  ),
  setting("referenceNumber", "referenceNumber", required(words("text", 32)), [
    "the 3DS Server reference number",
    "Referenznummer des 3DS-Servers",
  ]),
  setting("operatorId", "operatorId", required(words("text", 32)), [
    "the 3DS Server operator id",
    "Betreiber-Id des 3DS-Servers",
  ]),
  setting("requestorId", "requestorId", required(words("text", 35)), [
    "the 3DS Requestor's id",
    "Id des 3DS-Requestors",
  ]),
  setting("requestorName", "requestorName", required(words("text", 40)), [
    "the 3DS Requestor's name",
    "Name des 3DS-Requestors",
  ]),
  setting("requestorUrl", "requestorUrl", required(https), [
    "the 3DS Requestor's web site",
    "Website des 3DS-Requestors",
  ]),
  setting("sandbox", "sandbox", onlyYes, [
    "it belongs to the sandbox; for staging and rehearsals",
    "er gehört zur Sandbox; für Staging und den Probebetrieb",
  ]),
];

const name = word("text", "name", [
  "the name of the directory server",
  "der Name des Directory-Servers",
]);

export const directoryActions: readonly Action[] = [
  action("look", "see_configuration", {
    name: "directory list",
    does: [
      "list all directory servers, with the number of their card ranges",
      "alle Directory-Server mit der Anzahl ihrer Kartenbereiche auflisten",
    ],
    async perform(session) {
      const ranges = await administrationOf(session).countRanges();
      const known = await loadDirectories(session.database.query);
      const faults = await findFileFaults(known);
      return known.map((server) => ({
        name: server.name,
        networks: server.networks.join(",") || "all",
        url: server.settings.url ?? "none",
        url102: server.settings.url102 ?? "none",
        ranges: ranges.get(server.name)?.count ?? 0,
        "ranges due": ranges.get(server.name)?.dueAt ?? "",
        files: faults.get(server.name) ?? "good",
      }));
    },
  }),
  action("look", "see_configuration", {
    name: "directory show",
    does: [
      "show a directory server with its settings",
      "einen Directory-Server mit seinen Einstellungen zeigen",
    ],
    fields: { name },
    async perform(session, given) {
      const server = await find(session, given);
      return server === undefined ? unknown(given) : describe(server);
    },
  }),
  action("change", "change_acquiring", {
    name: "directory put",
    does: [
      "create a directory server, or change the given settings of one",
      "einen Directory-Server anlegen oder die angegebenen Einstellungen ändern",
    ],
    inFile: "exported",
    fields: { name, ...fieldsOf(directoryTable) },
    perform: putDirectory,
  }),
  action("change", "change_acquiring", {
    name: "directory refresh",
    does: ["request its card ranges now", "seine Kartenbereiche jetzt anfordern"],
    fields: { name },
    async perform(session, given) {
      if (!(await administrationOf(session).refresh(given.name))) return unknown(given);
      return { refreshed: given.name, note: "a running node requests its card ranges now" };
    },
  }),
  action("change", "change_acquiring", {
    name: "directory remove",
    does: [
      "remove a directory server with its card ranges",
      "einen Directory-Server mit seinen Kartenbereichen entfernen",
    ],
    inFile: "exported",
    fields: { name },
    async perform(session, given) {
      const isKnown = await administrationOf(session).remove(given.name);
      return isKnown ? { removed: given.name } : unknown(given);
    },
  }),
];

type Named = { readonly name: string };

async function putDirectory(session: Session, given: GivenSettings & Named): Promise<Output> {
  const nameFault = findNameFault(given.name);
  if (nameFault !== undefined) return nameFault;
  const { settings: known, networks: served = [] } = (await find(session, given)) ?? {};
  const before = { ...known, networks: served };
  const values = readSettings(directoryTable, given, before, "A directory server");
  if (values instanceof Problem) return values;
  const { networks: meant, ...own } = values;
  const fault =
    findDirectoryFault(session.config, "The directory server", own) ?? (await findFileFault(own));
  if (fault !== undefined) return fault;
  const server = { name: given.name, networks: meant, settings: own };
  await administrationOf(session).put(server);
  return describe(server);
}

function administrationOf({ audit, database }: Session) {
  return makeDirectoryAdministration(audit, database.query);
}

async function find({ database }: Session, given: Named) {
  return (await loadDirectories(database.query)).find((server) => server.name === given.name);
}

function describe({ name: known, networks: served, settings: own }: DirectoryServer) {
  const values = { ...own, networks: served.join(",") || "all" };
  const pairs = directoryTable.map((row) => [written(row.name), values[row.key]]);
  return { name: known, ...Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) };
}

function unknown(given: Named): Problem {
  return new Problem(`There is no directory server ${given.name}.`);
}

function readNetworks(given: string, field: string): readonly Network[] | Problem {
  if (given === "all") return [];
  const named = given.toUpperCase().split(",");
  const found = networks.filter((network) => named.includes(network));
  if (found.length === named.length) return found;
  return new Problem(`${field} is \`all\`, or some of ${networks.join(",")}.`);
}

/** Refuses a missing or broken certificate file before a payment needs it. */
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
