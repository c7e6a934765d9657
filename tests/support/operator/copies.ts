/**
 * Installations that begin alike and are changed through different interfaces: a copy of a world
 * begins with the world's stored data, and uses its bank. A test compares what they store and audit
 * afterwards.
 */
import type { Installation } from "@tollgate/gateway/installation";
import type { Test } from "../clean-up.ts";
import { makeFolder } from "../folder.ts";
import { copyInstallation } from "../installation.ts";
import { furnishPlace } from "../place.ts";
import type { World } from "../world.ts";

/** Makes a copy of a world. It shares the files of the world's data folder. */
export async function makeCopy(
  t: Test,
  { bank, dataDir }: Pick<World, "bank" | "dataDir">,
  settings: Readonly<Record<string, string>>,
) {
  const databaseUrl = await copyInstallation(await makeFolder(t, "copy"));
  const place = { dataDir, databaseUrl, bank };
  return { dataDir, settings, bank, ...(await furnishPlace(t, place, { settings })) };
}

/**
 * An audit entry without origin and reason, which differ between the command line and the portal.
 */
type Entry = Readonly<Record<"actor" | "action" | "subject", string>> & {
  readonly before: object | null;
  readonly after: object | null;
};

type Stored = {
  readonly installation: Pick<Installation, "database">;
  readonly dataDir: string;
};

export async function readEntries({ installation, dataDir }: Stored): Promise<readonly Entry[]> {
  return plain(
    await installation.database.query<Entry>(
      `select actor, action, subject, before::jsonb, after::jsonb from audit
       order by seq`,
    ),
    dataDir,
  );
}

/**
 * Reads every row that actions can change. Of encrypted values and times it reads only whether they
 * exist.
 */
export async function readStored({ installation }: Pick<Stored, "installation">) {
  const { query } = installation.database;
  selectAll ??= await writeSelect(query);
  const rows = await query<{ table: string; row: object }>(selectAll);
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return Object.fromEntries(
    [...byTable].map(([table, own]) => [
      table,
      own.map(({ row }) => JSON.stringify(plain(row))).sort(),
    ]),
  );
}

/** One statement reads all tables, which are the same in every copy. */
let selectAll: string | undefined;

async function writeSelect(query: Installation["database"]["query"]): Promise<string> {
  const columns = await query<Column>(
    `select table_schema || '.' || table_name as table, column_name as name,
       data_type in ('bytea', 'timestamp with time zone') or column_name ~ 'password'
         as "isHidden"
     from information_schema.columns where table_schema in ('public', 'vault')
       and not table_name ~ any($1) order by 1, 2`,
    [working.map((name) => `^${name}`)],
  );
  const selects = [...Map.groupBy(columns, ({ table }) => table)].map(([table, own]) => {
    const values = own.map(({ name, isHidden }) =>
      isHidden ? `'${name}', "${name}" is not null` : `'${name}', "${name}"`,
    );
    return `select '${table}' as table, jsonb_build_object(${values}) as row from ${table}`;
  });
  return selects.join(" union all ");
}

type Column = { readonly table: string; readonly name: string; readonly isHidden: boolean };

/** Prefixes of tables that actions do not change: visits, payments, and what nodes share. */
const working = [
  "audit",
  "portal_sessions",
  "sign_in_tries",
  "passkeys",
  "oauth_nonces",
  "order",
  "request",
  "callback",
  "card_range",
  "installation_hold",
  "retention_walks",
];

/**
 * Removes from a value what is random or depends on the clock, where a node listens, and what a
 * node does.
 */
export function plain<Value>(value: Value, folder = ""): Value {
  return JSON.parse(JSON.stringify(value), (name, each) => {
    // A running node requests the card ranges, and records when it does so again.
    if (name === "ranges" || name === "ranges due") return null;
    // Ids of keys are random. Other numbers of this size are times.
    if (typeof each === "number") return each >= (/id$/i.test(name) ? 10_000 : 1e11) ? 0 : each;
    if (typeof each !== "string") return each;
    if (name === "password" || name === "secret") return "<random>";
    return plainText(each, folder);
  });
}

function plainText(text: string, folder: string): string {
  // A browser sends a file without its path.
  if (folder !== "" && text.startsWith(`${folder}/`) && !text.includes("/", folder.length + 1)) {
    return "-";
  }
  const plainer = text
    .replaceAll(/-----BEGIN[\s\S]*-----/g, "<pem>")
    .replaceAll(/https?:\/\/(localhost|127\.0\.0\.1):\d+/g, "<node>")
    // Other random text is recognised by its digits, but a token this short may have none.
    .replaceAll(/(?<=\/pay\/)[\w-]{22}/g, "<random>")
    // The times of the samples are in 2030.
    .replaceAll(/(?!2030)\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\d:.]*( UTC|Z)?/g, "<moment>")
    .replaceAll(/\b\d{9,}\b/g, "0");
  return text.startsWith("/")
    ? plainer
    : plainer.replaceAll(/(?=[\w+/=-]*\d)[\w+/=-]{20,}/g, "<random>");
}
