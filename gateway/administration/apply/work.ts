/** The transaction, the list of differences and the readers that sections of `gw apply` share. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Administration } from "../../storage/configuration/administration.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import type { Audit } from "../../storage/people/audit.ts";
import type { Query } from "../../storage/server/database.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import type { Vault } from "../../vault/vault.ts";
import type { Session } from "../session.ts";
import type { FileEntry } from "../settings.ts";

/** An error in the configuration file, which rolls the transaction back. */
export class Invalid extends Error {}

export type FileStep = {
  readonly what: string;
  readonly change: "create" | "change" | "remove" | "disable";
  readonly fields: readonly { key: string; before: string; after: string }[];
};

export type ApplyContext = {
  readonly session: Session;
  readonly audit: Audit;
  readonly query: Query;
  readonly vault: Vault;
  /** Loads the configuration as the transaction sees it at that moment. */
  readonly load: () => Promise<Configuration>;
  readonly prune: boolean;
  /** The folder of the configuration file. Relative paths in the file begin there. */
  readonly folder: string;
};

export type Work = ApplyContext & {
  readonly administration: Administration;
  readonly steps: FileStep[];
};

export type Sections = Readonly<Record<string, unknown>>;

export function sectionsOf(value: unknown, what: string): Sections {
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new Invalid(`${what} is no map.`);
  return value as Sections;
}

export function refuseUnknown(what: string, unknown: Sections): void {
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw new Invalid(`${what} has no section ${name}.`);
}

export async function readBeside({ folder }: Pick<Work, "folder">, file: string): Promise<string> {
  const path = resolve(folder, file);
  return readFile(path, "utf8").catch((error) => {
    throw new Invalid(`The file ${path} cannot be read: ${messageOf(error)}.`);
  });
}

export function valid<Value>(value: Value | Problem): Value {
  if (value instanceof Problem) throw new Invalid(value.sentence);
  return value;
}

/** Reports the differences between the stored object and the file. Returns whether they differ. */
export function differs(
  work: Work,
  what: string,
  before: FileEntry | undefined,
  after: FileEntry,
): boolean {
  const { steps } = work;
  const keys = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  const fields = keys
    .filter((key) => !isDeepStrictEqual(before?.[key], after[key]))
    .map((key) => ({ key, before: shown(before?.[key]), after: shown(after[key]) }));
  if (fields.length === 0) return false;
  steps.push({ what, change: before === undefined ? "create" : "change", fields });
  return true;
}

export function readEnabled(
  value: unknown,
  known: { readonly enabled: boolean } | undefined,
): boolean {
  if (value === undefined) return known?.enabled ?? true;
  if (typeof value === "boolean") return value;
  throw new Invalid("enabled is true or false.");
}

export function readTexts(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  return (Array.isArray(value) ? value : [value]).map(String);
}

function shown(value: unknown): string {
  return value === undefined ? "none" : Array.isArray(value) ? value.join(",") : String(value);
}
