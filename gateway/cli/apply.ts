/**
 * `gw apply` and `gw export`: the configuration as a file that lives in version control. A file is
 * applied in one transaction, or not at all; what it omits stays as it is, unless with `--prune`.
 * A dry run does everything and takes it back.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Command, Option } from "commander";
import { parse, stringify } from "yaml";
import { amountDigitsOf } from "../acquirers/iso8583-host/connector.ts";
import type { Audit } from "../storage/audit.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { loadDirectories } from "../storage/directories.ts";
import { findListEntries } from "../storage/screening-lists.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { applyFile } from "./apply-file.ts";
import { printScreening } from "./apply-screening.ts";
import { type FileStep, Invalid } from "./apply-work.ts";
import { type Output, type Session, setAction } from "./command.ts";
import { makeSchema, printConfiguration } from "./configuration-file.ts";
import { openVault, readConfiguration } from "./installation.ts";

export function addApply(command: Command): void {
  setAction(command, apply, [
    new Option("-f, --file <file.yaml>", "the file; - for standard input").makeOptionMandatory(),
    new Option("--dry-run", "show the difference, and change nothing"),
    new Option("--prune", "also remove or disable what a section of the file omits"),
  ]);
}

export function addExport(command: Command): void {
  setAction(command, exportFile, [
    new Option("--lists", "also the entries of the allow and block lists, which name persons"),
    new Option("--schema", "print the JSON schema of the file instead, for editors"),
  ]);
}

type ApplyOptions = {
  readonly file: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
};

export async function apply(session: Session, given: ApplyOptions): Promise<Output> {
  const { file, dryRun = false, prune = false } = given;
  const document = await readDocument(file);
  if (document instanceof Problem) return document;
  const vault = await openVault(session);
  const undo = new Error("a dry run is taken back");
  let steps: readonly FileStep[] = [];
  const run = (audit: Audit) =>
    audit.change(async (query) => {
      const load = () => loadConfiguration(query, vault.openSecret, amountDigitsOf);
      const place = { audit, query, vault, load, prune, folder: dirname(resolve(file)) };
      steps = await applyFile(document, { ...place, session });
      if (dryRun) throw undo;
    });
  try {
    await session.audit.together(run);
  } catch (error) {
    if (error instanceof Invalid) return new Problem(`${error.message} Nothing was changed.`);
    if (error !== undo) throw error;
  }
  if (session.json) return { applied: !dryRun, changes: steps };
  if (steps.length === 0) return "Nothing to change.";
  const lines = steps.flatMap(({ what, change, fields }) => [
    `${change} ${what}`,
    ...fields.map(({ key, before, after }) => `    ${key}: ${before} -> ${after}`),
  ]);
  return [...lines, `${steps.length} ${dryRun ? "to change" : "changed"}.`].join("\n");
}

async function readDocument(file: string): Promise<object | Problem> {
  try {
    const text = await readFile(file === "-" ? "/dev/stdin" : file, "utf8");
    const document: unknown = parse(text, { uniqueKeys: true });
    const isMap = typeof document === "object" && document !== null && !Array.isArray(document);
    return isMap ? document : new Problem(`${file} has no sections: see \`gw export\`.`);
  } catch (error) {
    return new Problem(`The file ${file} cannot be read: ${messageOf(error)}`);
  }
}

export async function exportFile(
  session: Session,
  given: { readonly schema?: boolean; readonly lists?: boolean },
): Promise<Output> {
  if (given.schema === true) return JSON.stringify(makeSchema(), undefined, 2);
  const configuration = await readConfiguration(session);
  const { query } = session.database;
  const entries = given.lists === true ? await findListEntries(query, {}) : undefined;
  const printed = {
    ...printConfiguration(configuration, await loadDirectories(query)),
    screening: printScreening(configuration, entries),
  };
  return session.json ? printed : stringify(printed, { lineWidth: 0 }).trimEnd();
}
