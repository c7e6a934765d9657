/**
 * Performs every action through each interface that offers it: `gw`, the portal's API and, where
 * the action's row allows it, a file for `gw apply`. Each interface has an installation of its own,
 * and all three start with the same data. Afterwards the stored rows, the audit entries and the
 * answers must be equal.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { endOfFile } from "../../support/end-of-file.ts";
import {
  changing,
  type Example,
  keepFrom,
  looking,
  lookingWithKeys,
  macKey,
  runExample,
  type Values,
  writeExampleFiles,
} from "../../support/operator/command-table.ts";
import { makeCopy, plain, readEntries, readStored } from "../../support/operator/copies.ts";
import { addUser, openBrowser } from "../../support/operator/portal.ts";
import {
  actionOf,
  actions,
  nameIn,
  offered,
  requestOf,
} from "../../support/operator/portal-actions.ts";
import { type Ran, readGw, runGw } from "../../support/programs.ts";
import { numberOf, rowsOf, series, testInLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const settings = { GW_USER: "ann", GW_KEY_GRACE_S: "0", GW_ACQUIRER_ANSWER_TIMEOUT_S: "0.2" };
const world = await startWorld(endOfFile, settings);
const terminal = await makeCopy(endOfFile, world, settings);
const portal = { ...world, settings };
const filed = await makeCopy(endOfFile, world, settings);
const faces = [terminal, portal, filed] as const;
type Place = (typeof faces)[number];

const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
const folder = world.dataDir;
await writeExampleFiles(folder, pem);
const allKnow = [
  ["folder", folder],
  ["bank", world.bank.tlsFolder],
  ["plain", world.set.endpoints["plain"] ?? ""],
] as const;
const known: ReadonlyMap<Place, Values> = new Map(faces.map((place) => [place, new Map(allKnow)]));
const valuesOf = (place: Place) => known.get(place) ?? assert.fail();

/**
 * The user of the portal has the same name as that of the command line, and is signed in to every
 * installation.
 */
const browser = openBrowser(world.gateway);
for (const place of faces) await addUser(place, { login: "ann", role: "admin" });
assert.equal(await browser.signIn("ann"), "in");
for (const { installation } of faces) {
  await installation.database.query("update users set used_at = now()");
}

/** The answer to the user: a result, or the sentence of a refusal. */
type Answer = { readonly result?: object; readonly refusal?: string };

function answerOf({ code, printed, complaint }: Ran): Answer {
  if (code !== 0) return { refusal: complaint.trim() };
  const result = JSON.parse(printed);
  if (Array.isArray(result)) return { result: { rows: result } };
  return { result: typeof result === "string" ? { text: result } : result };
}

async function perform(place: Place, example: Example): Promise<Answer> {
  return answerOf(await runExample(place, example, valuesOf(place)));
}

async function send(example: Example): Promise<Answer> {
  const { duration } = actionOf(example) ?? {};
  const name = nameIn(example);
  if (!offered.has(name)) return perform(portal, example);
  const request = await requestOf(example, valuesOf(portal));
  const reason = /--why (\w+)/.exec(example.words)?.[1] ?? "the test";
  const { body } = await browser.call("POST /actions/run", { reason, ...request });
  if (body.error !== undefined) return { refusal: body.error.message };
  keepFrom(example, body.result, valuesOf(portal));
  if (duration === "hours") await untilEnded(name);
  return { result: body.result };
}

/** Waits for an action that the portal answers when it has begun. */
function untilEnded(name: string): Promise<unknown> {
  return until(`${name} has ended`, async () =>
    (await readEntries(portal)).find(({ action }) => action === `${name} ended`),
  );
}

/**
 * The files for actions that read a key from a file. For all other actions the test applies what
 * `gw export` has written.
 */
const besides: Readonly<Record<string, object>> = {
  "merchant control-key set": { merchants: { fresh: { "control-key-file": "control.key" } } },
  "merchant key add": { merchants: { fresh: { "oauth-key-files": ["public.pem"] } } },
  "gate mac-key set": { gates: { spare: { "mac-key-file": "mac.key" } } },
};
await writeFile(join(folder, "control.key"), "a-key-that-the-merchant-has\n");
await writeFile(join(folder, "mac.key"), `${macKey}\n`);

async function apply(example: Example, exported: unknown): Promise<Answer> {
  const name = nameIn(example);
  const isBeside = actionOf(example)?.inFile === "beside";
  const content = isBeside ? besides[name] : exported;
  const text = JSON.stringify(content) ?? assert.fail(`no file says ${name}`);
  const file = join(folder, "applied.json");
  await writeFile(file, text);
  const ran = await runGw(filed, "apply", "-f", file, ...(isBeside ? [] : ["--prune"]));
  // Ids are the same in a copy.
  const [kept] = example.keep ?? [];
  if (kept !== undefined) valuesOf(filed).set(kept, valuesOf(terminal).get(kept) ?? "");
  return ran.code === 0 ? {} : { refusal: ran.complaint.trim() };
}

/** Reasons why an action of two interfaces is not compared. */
const incomparable: Readonly<Record<string, string>> = {
  "audit verify": "the audit of the portal's installation has a sign-in of the browser",
};
const hasTwoFaces = (name: string) => {
  const { needsNode = false, inFile = "otherwise" } = actions.get(name) ?? {};
  return (offered.has(name) && !needsNode) || inFile !== "otherwise";
};
const isCompared = (name: string) => hasTwoFaces(name) && !(name in incomparable);
/** The short run leaves out two of three actions that change nothing. */
const looks = rowsOf([...looking, ...lookingWithKeys], ({ path }) => numberOf(path, 3) === 0);
const examples = [...changing, ...looks].filter((example) => isCompared(nameIn(example)));
/** The export of the terminal's installation before an action. */
let before = await readGw(terminal, "export");

testInLongRun("every action that several interfaces offer is tried", async () => {
  const tried = new Set(examples.map(nameIn));

  assert.deepEqual(
    [...actions.keys()].filter((name) => isCompared(name) && !tried.has(name)),
    [],
  );
});

/**
 * How many actions are performed before all stored rows are compared. A difference stays, so that
 * the short run finds it a few actions later.
 */
const betweenReads = series(6, 1);

for (const [at, example] of examples.entries()) {
  test(`${example.path} has the same result through every interface`, async () => {
    const { inFile, duration } = actionOf(example) ?? {};
    const isFiled = inFile === "exported" || inFile === "beside";
    const lengths = await Promise.all(
      faces.map(async (place) => (await readEntries(place)).length),
    );

    const typed = await perform(terminal, example);
    const exported = await readGw(terminal, "export");
    const sent = await send(example);
    const applied = isFiled ? await apply(example, exported) : await perform(filed, example);

    assert.equal(typed.refusal !== undefined, example.isRefused === true, `${typed.refusal}`);
    const isInExport = !isDeepStrictEqual(exported, before);
    before = exported;
    const mayBe = inFile === "exported" || inFile === "otherwise";
    assert.equal(isInExport, mayBe, "the row says whether a file can say it");
    if (duration !== "hours") assert.deepEqual(plain(sent, folder), plain(typed, folder));
    assert.deepEqual(plain(applied, folder), isFiled ? {} : plain(typed, folder));
    const entries = await Promise.all(
      faces.map(async (place, at) => (await readEntries(place)).slice(lengths[at])),
    );
    assert.deepEqual(entries[1], entries[0]);
    assert.deepEqual(entries[2], entries[0]);
    if ((at + 1) % betweenReads !== 0 && at + 1 < examples.length) return;
    const stored = await readStored(terminal);
    assert.deepEqual(await readStored(portal), stored);
    assert.deepEqual(await readStored(filed), stored);
  });
}
