/**
 * The actions `gw apply` and `gw export` of the configuration as a file. A file is applied in one
 * transaction, or not at all. Settings that the file omits stay as they are, unless `--prune` is
 * given. Stored settings are compared in the form of the file, so that a second run changes
 * nothing.
 */
import { dirname, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { abilitiesOf } from "../../acquirers/iso8583-host/connector.ts";
import { makeAdministration } from "../../storage/configuration/administration.ts";
import { loadConfiguration } from "../../storage/configuration/configuration.ts";
import {
  loadDirectories,
  makeDirectoryAdministration,
} from "../../storage/configuration/directories.ts";
import type { Audit } from "../../storage/people/audit.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import {
  makeSchema,
  printConfiguration,
  printDirectory,
  printGate,
} from "../configuration-file.ts";
import { type Content, flag, word } from "../field.ts";
import { findGate } from "../find.ts";
import { directoryTable, findFileFault } from "../gates/directories.ts";
import { findTlsFault, gateTable, readGate } from "../gates/gate-settings.ts";
import { allQueriesOf, countHostChange } from "../gates/gates.ts";
import { findDirectoryFault } from "../installation/rehearsal.ts";
import { findNameFault } from "../readers.ts";
import {
  type Output,
  openVault,
  Report,
  readConfiguration,
  readContent,
  type Session,
} from "../session.ts";
import { readEntry, readSettings } from "../settings.ts";
import { putMacKey } from "./keys.ts";
import { putMerchants } from "./merchants.ts";
import { printScreening, putScreening, rowsOf } from "./screening.ts";
import {
  type ApplyContext,
  differs,
  type FileStep,
  Invalid,
  refuseUnknown,
  type Sections,
  sectionsOf,
  valid,
  type Work,
} from "./work.ts";

const commandLineOnly = "is for a file under version control, whose keys lie beside it";

export const applyActions: readonly Action[] = [
  action("change", "operate", {
    name: "apply",
    inFile: "exported",
    commandLineOnly,
    fields: {
      file: {
        ...word("file", "file.yaml", ["the file; - for standard input"]),
        isWord: false,
        letter: "f",
      },
      dryRun: flag(["show the difference, and change nothing"]),
      prune: flag(["also remove or disable what a section of the file omits"]),
    },
    perform: apply,
  }),
];

export const exportActions: readonly Action[] = [
  action("look", "see_configuration", {
    name: "export",
    commandLineOnly,
    fields: { schema: flag(["print the JSON schema of the file instead, for editors"]) },
    perform: exportFile,
  }),
];

type Given = {
  readonly file: Content;
  readonly dryRun?: true | undefined;
  readonly prune?: true | undefined;
};

export async function apply(session: Session, given: Given): Promise<Output> {
  const { file: source, dryRun = false, prune = false } = given;
  const document = await readDocument(source);
  if (document instanceof Problem) return document;
  const vault = await openVault(session);
  const undo = new Error("the dry run is rolled back");
  let steps: readonly FileStep[] = [];
  const run = (audit: Audit) =>
    audit.change(async (query) => {
      const load = () => loadConfiguration(query, vault.openSecret, abilitiesOf);
      const place = { audit, query, vault, load, prune, folder: dirname(resolve(source.name)) };
      steps = await applyFile(document, { ...place, session });
      if (dryRun) throw undo;
    });
  try {
    await session.audit.together(run);
  } catch (error) {
    if (error instanceof Invalid) return new Problem(`${error.message} Nothing was changed.`);
    if (error !== undo) throw error;
  }
  return new Report({ applied: !dryRun, changes: steps }, describeSteps(steps, dryRun));
}

function describeSteps(steps: readonly FileStep[], dryRun: boolean): string {
  if (steps.length === 0) return "Nothing to change.";
  const lines = steps.flatMap(({ what, change, fields }) => [
    `${change} ${what}`,
    ...fields.map(({ key, before, after }) => `    ${key}: ${before} -> ${after}`),
  ]);
  return [...lines, `${steps.length} ${dryRun ? "to change" : "changed"}.`].join("\n");
}

async function readDocument(source: Content): Promise<object | Problem> {
  try {
    const document: unknown = parse(await readContent(source), { uniqueKeys: true });
    const isMap = typeof document === "object" && document !== null && !Array.isArray(document);
    return isMap ? document : new Problem(`${source.name} has no sections.`);
  } catch (error) {
    return new Problem(`The file ${source.name} cannot be read: ${messageOf(error)}`);
  }
}

type Chosen = { readonly schema?: true | undefined };

export async function exportFile(session: Session, given: Chosen): Promise<Output> {
  if (given.schema) return JSON.stringify(makeSchema(), undefined, 2);
  const configuration = await readConfiguration(session);
  const printed = {
    ...printConfiguration(configuration, await loadDirectories(session.database.query)),
    screening: printScreening(configuration),
  };
  return new Report(printed, stringify(printed, { lineWidth: 0 }).trimEnd());
}

async function applyFile(document: object, context: ApplyContext): Promise<readonly FileStep[]> {
  const { gates, directories, merchants, screening, ...unknown } = sectionsOf(document, "The file");
  refuseUnknown("The file", unknown);
  const work: Work = { ...context, administration: makeAdministration(context.audit), steps: [] };
  const wanted = sectionsOf(gates ?? null, "gates");
  await putGates(work, wanted);
  if (directories !== undefined) await putDirectories(work, sectionsOf(directories, "directories"));
  const { rules } = sectionsOf(screening ?? null, "screening");
  const ruled = rowsOf(rules ?? null, "rules").map(({ merchant }) => merchant);
  const isRuled = (login: string) =>
    ruled.includes(login) || (context.prune && rules !== undefined);
  if (merchants !== undefined) {
    await putMerchants(work, sectionsOf(merchants, "merchants"), isRuled);
  }
  if (screening !== undefined) await putScreening(work, sectionsOf(screening, "screening"));
  if (gates !== undefined && context.prune) await removeGates(work, wanted);
  return work.steps;
}

async function putGates(work: Work, entries: Sections): Promise<void> {
  const { administration, load, prune, session } = work;
  const configuration = await load();
  for (const [name, entry] of Object.entries(entries)) {
    const fault = findNameFault(name);
    if (fault !== undefined) throw new Invalid(fault.sentence);
    const found = findGate(configuration, name);
    const known = found instanceof Problem ? undefined : found;
    const { own, macKey } = splitGate(sectionsOf(entry, name));
    const given = valid(readEntry(gateTable(), own, `The gate ${name}`));
    const read = valid(readGate(given, prune ? undefined : known, session.config));
    const before = known && printGate(known);
    if (differs(work, `gate ${name}`, before, printGate(read))) {
      valid(await findTlsFault(read.settings, given));
      const changed = known ? valid(await countHostChange(session, known, read, {})) : read;
      await administration.putGate({ name, ...changed });
    }
    await putMacKey(work, known ?? valid(findGate(await load(), name)), macKey);
  }
}

function splitGate(entry: Sections) {
  const { "mac-key-file": file, "mac-algorithm": algorithm, "mac-bytes": bytes, ...own } = entry;
  return { own, macKey: { file, algorithm, bytes } };
}

async function removeGates(work: Work, entries: Sections): Promise<void> {
  const { administration, load, session, steps } = work;
  const { gates } = await load();
  for (const { id, name } of gates.values()) {
    if (Object.hasOwn(entries, name)) continue;
    if ((await administration.removeGate(id, allQueriesOf(session.cells))) === "in_use") {
      throw new Invalid(`The gate ${name} is in use and cannot be removed.`);
    }
    steps.push({ what: `gate ${name}`, change: "remove", fields: [] });
  }
}

async function putDirectories(work: Work, entries: Sections): Promise<void> {
  const { audit, query, prune, steps } = work;
  const { put, remove } = makeDirectoryAdministration(audit, query);
  const stored = await loadDirectories(query);
  for (const [name, entry] of Object.entries(entries)) {
    const known = stored.find((server) => server.name === name);
    const what = `The directory server ${name}`;
    const given = valid(readEntry(directoryTable, sectionsOf(entry, name), what));
    const base = prune || known === undefined ? {} : known.settings;
    const networks = prune ? [] : (known?.networks ?? []);
    const values = valid(readSettings(directoryTable, given, { networks, ...base }, what));
    const { networks: meant, ...settings } = values;
    const server = { name, networks: meant, settings };
    const before = known && printDirectory(known);
    if (!differs(work, `directory server ${name}`, before, printDirectory(server))) continue;
    valid(findDirectoryFault(work.session.config, what, settings));
    valid(await findFileFault(settings));
    await put(server);
  }
  for (const { name } of prune ? stored : []) {
    if (Object.hasOwn(entries, name)) continue;
    await remove(name);
    steps.push({ what: `directory server ${name}`, change: "remove", fields: [] });
  }
}
