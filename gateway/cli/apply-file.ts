/**
 * Makes the configuration what a file says, section by section, inside one transaction. A section
 * is compared with what is stored as both are printed, so that a second run finds no difference.
 */
import { makeAdministration } from "../storage/administration.ts";
import { loadDirectories, makeDirectoryAdministration } from "../storage/directories.ts";
import { Problem } from "../values/problem.ts";
import { putMacKey } from "./apply-keys.ts";
import { putMerchants } from "./apply-merchants.ts";
import { putScreening, rowsOf } from "./apply-screening.ts";
import {
  type ApplyPlace,
  differs,
  type FileStep,
  Invalid,
  refuseUnknown,
  type Sections,
  sectionsOf,
  valid,
  type Work,
} from "./apply-work.ts";
import { printDirectory, printGate, readEntry } from "./configuration-file.ts";
import { directoryTable, findFileFault } from "./directory.ts";
import { countHostChange, findGate, gateTable, readGate } from "./gate.ts";
import { findTlsFault } from "./gate-links.ts";
import { findNameFault, readSettings } from "./options.ts";
import { findDirectoryFault } from "./rehearsal.ts";

export async function applyFile(document: object, place: ApplyPlace): Promise<readonly FileStep[]> {
  const { gates, directories, merchants, screening, ...unknown } = sectionsOf(document, "The file");
  refuseUnknown("The file", unknown);
  const work: Work = { ...place, administration: makeAdministration(place.audit), steps: [] };
  const wanted = sectionsOf(gates ?? null, "gates");
  await putGates(work, wanted);
  if (directories !== undefined) await putDirectories(work, sectionsOf(directories, "directories"));
  const { rules } = sectionsOf(screening ?? null, "screening");
  const ruled = rowsOf(rules ?? null, "rules").map(({ merchant }) => merchant);
  const isRuled = (login: string) => ruled.includes(login) || (place.prune && rules !== undefined);
  if (merchants !== undefined) {
    await putMerchants(work, sectionsOf(merchants, "merchants"), isRuled);
  }
  if (screening !== undefined) await putScreening(work, sectionsOf(screening, "screening"));
  if (gates !== undefined && place.prune) await removeGates(work, wanted);
  return work.steps;
}

async function putGates(work: Work, entries: Sections): Promise<void> {
  const { administration, load, prune, session } = work;
  const configuration = await load();
  for (const [name, entry] of Object.entries(entries)) {
    const fault = findNameFault(name);
    if (fault !== undefined) throw new Invalid(fault.sentence);
    const found = findGate(name, configuration);
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
    await putMacKey(work, known ?? valid(findGate(name, await load())), macKey);
  }
}

function splitGate(entry: Sections) {
  const { "mac-key-file": file, "mac-algorithm": algorithm, "mac-bytes": bytes, ...own } = entry;
  return { own, macKey: { file, algorithm, bytes } };
}

async function removeGates(work: Work, entries: Sections): Promise<void> {
  const { administration, load, session, steps } = work;
  const { gates } = await load();
  const cells = session.cells.names().map((cell) => session.cells.databasesOf(cell).node.query);
  for (const { id, name } of gates.values()) {
    if (Object.hasOwn(entries, name)) continue;
    if ((await administration.removeGate(id, cells)) === "in_use") {
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
