/** The stored lists: what nodes read of a change, and what remains of a removed entry. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { openLists } from "../../screening/lists.ts";
import { asInstant } from "../../values/time.ts";
import type { Database } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import {
  findListEntries,
  makeListStore,
  type NewListEntry,
  putEntries,
  removeEntries,
} from "./screening-lists.ts";

let database: Database;
let cleanUp = async (): Promise<void> => undefined;

before(async () => {
  const tables = await startDatabase();
  database = tables.database;
  cleanUp = tables.stop;
});

after(() => cleanUp());

beforeEach(() => database.query("delete from list_entries"));

const fail = (error: unknown) => assert.fail(String(error));
const open = () => openLists(makeListStore(database), fail);
const put = (...entries: readonly NewListEntry[]) =>
  database.transaction((query) => putEntries(query, entries, { by: "ana" }));
const remove = (...ids: readonly string[]) =>
  database.transaction((query) => removeEntries(query, ids));

function email(value: string, more: Partial<NewListEntry> = {}): NewListEntry {
  return { list: "block", kind: "email", value, reason: "", ...more };
}

test("a node reads all entries at its start, and later what has changed", async () => {
  const many = Array.from({ length: 1_200 }, (_, at) => email(`${at}@example.com`));
  const { ids } = await put(...many);
  const { lists, reload } = await open();
  assert.equal(lists.size, 1_200);

  await put(email("new@example.com"));
  await remove(ids[0] ?? "", ids[1] ?? "");
  await reload();

  assert.equal(lists.size, 1_199);
  const again = await open();
  assert.equal(again.lists.size, 1_199);
});

test("an entry that is added again gets the new expiry and reason, and an empty change writes nothing", async () => {
  const texts = { reason: `a "quoted", {braced} \\ 'reason' 銀行` };
  const first = await put(email("a@example.com", texts));
  const same = await put(email("a@example.com", texts));
  const later = await put(email("a@example.com", { expiresAt: asInstant(1_900_000_000_000) }));
  const other = await put(email("a@example.com", { list: "allow" }));

  assert.deepEqual([first.added, first.changed], [1, 0]);
  assert.deepEqual([same.added, same.changed], [0, 0]);
  assert.deepEqual([later.added, later.changed, later.ids], [0, 1, first.ids]);
  assert.deepEqual([other.added, other.changed], [1, 0]);
  const [stored] = await findListEntries(database.query, { list: "block", kind: "email" });
  assert.equal(stored?.expiresAt, 1_900_000_000_000);
  assert.equal(stored?.addedBy, "ana");
});

test("a removed entry leaves no value in the database, and may be added again", async () => {
  const { ids } = await put(email("person@example.com", { reason: "called twice" }));
  const { lists, reload } = await open();

  const gone = await remove(...ids);
  const rest = await database.query<object>("select * from list_entries");
  const again = await put(email("person@example.com"));
  await reload();

  assert.equal(gone[0]?.value, "person@example.com");
  assert.equal(rest.length, 1);
  assert.doesNotMatch(JSON.stringify(rest), /person|twice/);
  assert.equal(again.added, 1);
  assert.equal(lists.size, 1);
});

test("a node that has read the first of two concurrent changes also reads the second", async () => {
  const { lists, reload } = await open();
  await Promise.all([
    put(email("x@example.com")),
    reload(),
    put(email("y@example.com")),
    reload(),
    put(email("z@example.com")),
  ]);
  await reload();

  assert.equal(lists.size, 3);
});
