/**
 * `gw list`: the allow and block lists of screening. A card is named by a reference, its hash id,
 * an order, or by its number on standard input; of the number only a digest is stored.
 */
import { createHash } from "node:crypto";
import { type Command, Option } from "commander";
import {
  looksLikeCardNumber,
  readKindName,
  readListFile,
  readListName,
  readReason,
} from "../screening/list-file.ts";
import { findKind, type ListKind, listKinds } from "../screening/list-kinds.ts";
import type { ListScope } from "../screening/lists.ts";
import { readDatabaseTime } from "../storage/database-clock.ts";
import {
  findListEntries,
  type NewListEntry,
  putEntries,
  removeEntries,
  type StoredListEntry,
} from "../storage/screening-lists.ts";
import { CsvFaults } from "../values/csv-records.ts";
import { isNumericId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { asInstant, makePrintDate } from "../values/time.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { findFileProblem, readInput } from "./input-file.ts";
import { openVault, readConfiguration } from "./installation.ts";
import { cardValueOf, readCardNumber, resolveCard } from "./list-card.ts";
import { expiresOption, readMoment } from "./options.ts";
import { makeScopeOf, nameScopes, scopeOptions } from "./screening-scope.ts";
import { makeProgress } from "./terminal.ts";

export function addListCommands(list: Command): void {
  const kinds = listKinds.map(({ name, meaning }) => `${name}: ${meaning}`).join("; ");
  const order = new Option("--order <orderid>", "the card of this order, in place of a value");
  const reason = new Option("--reason <text>", "shown with the entry");
  const onlyList = new Option("--list <name>", "only of this list: allow or block");
  const onlyKind = new Option("--kind <kind>", "only of this kind");
  const value = new Option("--value <value>", "only this value, with --kind");
  const expired = new Option("--expired", "only those that have expired");
  const limit = new Option("--limit <n>", "so many, the latest first").default("100");
  const before = new Option("--before <entry>", "only those with a smaller number than this one");
  // biome-ignore format: a table
  addCommands(list, [
    ["add <list> <kind> [value]", `put a value on the allow or the block list. Kinds: ${kinds}`, add, [order, ...scopeOptions, expiresOption, reason]],
    ["show",                      "show the entries",                                            show, [onlyList, onlyKind, value, ...scopeOptions, expired, before, limit]],
    ["remove [entries...]",       "remove entries by their numbers, or all expired ones",        remove, [expired]],
    ["import <file.csv>",         "add all entries of a file, or - for standard input; a file with any fault changes nothing", importFile],
  ]);
}

type Given = Partial<Record<string, string>> & { readonly expired?: never };

async function add(
  session: Session,
  name: string,
  kindName: string,
  text: string | undefined,
  given: Given,
): Promise<Output> {
  const list = readListName(name);
  if (list instanceof Problem) return new Problem("The list is allow or block.");
  const kind = readKindName(kindName);
  if (kind instanceof Problem) return new Problem(`The kind is ${kind.sentence}.`);
  const configuration = await readConfiguration(session);
  const scope = makeScopeOf(configuration)(given["merchant"] ?? "", given["endpoint"] ?? "");
  if (scope instanceof Problem) return new Problem(`That is ${scope.sentence}.`);
  const value = await readValue(session, kind, { text, order: given["order"], scope });
  if (value instanceof Problem) return value;
  const expiresAt = await readExpiry(session, given["expires"]);
  if (expiresAt instanceof Problem) return expiresAt;
  const reason = readReason(given["reason"] ?? "");
  if (reason instanceof Problem) return new Problem(`--reason is ${reason.sentence}.`);
  const entry = { list, kind, value, reason, ...scope, ...(expiresAt && { expiresAt }) };
  const id = await session.audit.change(async (query, write) => {
    const { ids } = await putEntries(query, [entry], { by: session.actor.who });
    const [added] = ids;
    if (added === undefined) return undefined;
    await write({ action: "list add", subject: `list entry ${added}`, after: maskEntry(entry) });
    return added;
  });
  return { entry: id ?? "as it was", list, kind, value };
}

type ValueGiven = {
  readonly text: string | undefined;
  readonly order: string | undefined;
  readonly scope: ListScope;
};

async function readValue(
  session: Session,
  kind: ListKind,
  { text, order, scope }: ValueGiven,
): Promise<string | Problem> {
  if (kind !== "card" && order !== undefined) return new Problem("--order names a card.");
  if ((text === undefined) === (order === undefined)) {
    return new Problem(kind === "card" ? "Give a value or --order." : "Give a value.");
  }
  if (text !== undefined && text !== "-" && looksLikeCardNumber(text)) {
    return new Problem(
      "This may be a card number, which must not be on a command line: remove it from the " +
        "shell's history. Give the number on standard input, with - as the value, or --order.",
    );
  }
  if (kind === "card") {
    const number = text === "-" ? readCardNumber(await readInput(session.input)) : undefined;
    if (number instanceof Problem) return number;
    return resolveCard(session, scope, number ?? { text, order });
  }
  const value = findKind(kind)?.read(text ?? "");
  return value instanceof Problem || value === undefined
    ? new Problem(`The value is ${value?.sentence}.`)
    : value;
}

async function readExpiry({ database }: Session, text: string | undefined) {
  if (text === undefined) return undefined;
  return readMoment(text, await readDatabaseTime(database.query));
}

/** As the audit has it. */
export function maskEntry({ value, ...entry }: NewListEntry) {
  return { ...entry, value: findKind(entry.kind)?.mask(value) ?? "" };
}

async function show(session: Session, given: Given): Promise<Output> {
  const [list, kind] = [given["list"], given["kind"]];
  const listName = list === undefined ? undefined : readListName(list);
  if (listName instanceof Problem) return new Problem("--list is allow or block.");
  const kindName = kind === undefined ? undefined : readKindName(kind);
  if (kindName instanceof Problem) return new Problem(`--kind is ${kindName.sentence}.`);
  const value = given["value"];
  if (value !== undefined && kindName === undefined) return new Problem("--value needs --kind.");
  const wanted = value && kindName ? findKind(kindName)?.read(value) : undefined;
  if (wanted instanceof Problem) return new Problem(`--value is ${wanted.sentence}.`);
  const limit = given["limit"] ?? "100";
  if (!/^[1-9]\d{0,6}$/.test(limit)) return new Problem("--limit is a number from 1.");
  const before = given["before"];
  if (before !== undefined && !isNumericId(before)) return new Problem(numbersOnly);
  const configuration = await readConfiguration(session);
  const scope = makeScopeOf(configuration)(given["merchant"] ?? "", given["endpoint"] ?? "");
  if (scope instanceof Problem) return new Problem(`That is ${scope.sentence}.`);
  const { query } = session.database;
  const filter = {
    ...{ list: listName, kind: kindName, value: wanted, scope, before },
    ...("expired" in given && { expiredAt: await readDatabaseTime(query) }),
  };
  const entries = await findListEntries(query, filter, Number(limit));
  const print = makePrintDate(session.config.zone);
  const nameScope = nameScopes(configuration);
  return entries.map((entry: StoredListEntry) => ({
    ...{ entry: entry.id, list: entry.list, kind: entry.kind, value: entry.value },
    counts: nameScope(entry),
    expires: entry.expiresAt === undefined ? "" : print(entry.expiresAt),
    ...{ reason: entry.reason, "added by": entry.addedBy, "added at": `${entry.addedAt} UTC` },
  }));
}

const numbersOnly = "An entry's number has digits only.";

async function remove(session: Session, ids: readonly string[], given: Given): Promise<Output> {
  const isExpired = "expired" in given;
  if (isExpired === ids.length > 0) return new Problem("Give numbers of entries or --expired.");
  const unknown = ids.find((id) => !isNumericId(id));
  if (unknown !== undefined) return new Problem(numbersOnly);
  return session.audit.change(async (query, write) => {
    const now = await readDatabaseTime(query);
    const filter = isExpired ? { expiredAt: asInstant(now) } : { ids };
    const wanted = (await findListEntries(query, filter)).map(({ id }) => id);
    if (!isExpired && wanted.length < new Set(ids).size) {
      return new Problem("There is no such entry: none was removed.");
    }
    const gone = await removeEntries(query, wanted);
    for (const { id, addedAt: _, ...entry } of isExpired ? [] : gone) {
      await write({ action: "list remove", subject: `list entry ${id}`, before: maskEntry(entry) });
    }
    if (isExpired && gone.length > 0) {
      const after = { removed: gone.length };
      await write({ action: "list remove", subject: "expired list entries", after });
    }
    return { removed: gone.length };
  });
}

async function importFile(session: Session, file: string): Promise<Output> {
  const problem = await findFileProblem(file);
  if (problem !== undefined) return problem;
  const configuration = await readConfiguration(session);
  const now = await readDatabaseTime(session.database.query);
  const vault = await openVault(session);
  const digest = createHash("sha256");
  try {
    const entries = await readListFile(hashing(session.input.open(file), digest), {
      scopeOf: makeScopeOf(configuration),
      readExpiry: (text) => trimmed(readMoment(text, now)),
      report: makeProgress("lines read"),
      ...(file === "-" && {
        cardValueOf: (number, { merchantId }) => cardValueOf(vault, number, merchantId),
      }),
    });
    const sha256 = digest.digest("hex");
    return await session.audit.change(async (query, write) => {
      const options = { by: session.actor.who, report: makeProgress("entries written") };
      const { added, changed } = await putEntries(query, entries, options);
      const counts = { added, changed, unchanged: entries.length - added - changed };
      await write({ action: "list import", subject: file, after: { ...counts, sha256 } });
      return { file, ...counts };
    });
  } catch (error) {
    if (!(error instanceof CsvFaults)) throw error;
    return new Problem([...error.sentences, "Nothing was changed."].join("\n"));
  }
}

/** The end of a sentence. */
function trimmed<Value>(value: Value | Problem): Value | Problem {
  return value instanceof Problem
    ? new Problem("not a later moment like 2030-01-31T09:30:00Z, and not like 12h or 30d")
    : value;
}

async function* hashing(
  chunks: AsyncIterable<Uint8Array>,
  digest: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    digest.update(bytes);
    yield bytes;
  }
}
