/**
 * Every command of `gw`, by its row in the table of rights: a command that changes something leaves
 * an entry in the audit, a command that only reads needs neither a key nor a right to the vault,
 * and each role can run exactly the commands of its rights.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import * as table from "../../support/operator/command-table.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { isLongRun } from "../../support/series.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
await table.writeExampleFiles(world.dataDir, pem);
const values: table.Values = new Map([
  ["folder", world.dataDir],
  ["bank", world.bank.tlsFolder],
  ["card", await world.registerCard()],
  ["plain", world.set.endpoints["plain"] ?? ""],
]);
const sale = await world.merchant().sale();
await world.settle();
values.set("order", sale["gw-order-id"]);

type Entry = Readonly<Record<"action" | "subject" | "actor", string>> & {
  readonly after: Readonly<Record<string, unknown>> | null;
};
const readEntries = () =>
  world.installation.database.query<Entry>(
    "select action, subject, actor, after::jsonb from audit order by seq",
  );

test("the tables of examples have every command", () => {
  const pathsOf = (examples: readonly { readonly path: string }[]) =>
    [...new Set(examples.map(({ path }) => path))].sort();

  assert.deepEqual(pathsOf(table.changing), table.commandsOf("change", "record").toSorted());
  assert.deepEqual(
    pathsOf(table.looking),
    table
      .commandsOf("look")
      .filter((path) => !table.endless.includes(path))
      .toSorted(),
  );
});

// biome-ignore format: a table
const ends: readonly (readonly [words: string, code: number])[] = [
  ["merchant list",                    0],
  ["merchant list --help",             0],
  ["cell move-merchant nobody second", 2],
  ["merchant show nobody",             2],
  ["merchant show",                    2],
  ["merchant list --no-such-option",   2],
  ["no-such-command",                  2],
];

test("a refused command and an unknown command end with 2", async () => {
  for (const [words, code] of ends) {
    const ran = await runGw(world, ...words.split(" "));

    assert.equal(ran.code, code, `${words}: ${ran.complaint}`);
  }
});

test("each role runs the commands of its rights; any other ends with 3 and an entry", async () => {
  const login = world.set.login;
  const userOf = (role: string) => `a-${role}${role.startsWith("merchant-") ? `@${login}` : ""}`;
  for (const role of new Set(table.roleCells().map((cell) => cell.role))) {
    const merchant = role.startsWith("merchant-") ? ["--merchant", login] : [];
    await readGw(world, "user", "add", `a-${role}`, "--role", role, ...merchant);
  }
  const refusals = [];
  const seen = new Set<string>();

  for (const { role, right, isAllowed } of table.roleCells()) {
    const example = table.exampleOf(right);
    assert.ok(example !== undefined, `no command needs ${right}`);
    const as = { ...world, settings: { GW_USER: userOf(role) } };
    if (isAllowed && !table.looking.includes(example)) continue;
    // The short run tests one permitted and one refused command of each role.
    if (!isLongRun && seen.has(`${role} ${isAllowed}`)) continue;
    seen.add(`${role} ${isAllowed}`);
    const ran = await table.runExample(as, example, values);

    assert.equal(ran.code, isAllowed ? 0 : 3, `${role}, ${right}: ${ran.complaint}`);
    if (!isAllowed) refusals.push([userOf(role), `gw ${nameOf(example.path)}`]);
  }

  const entries = await readEntries();
  const refused = entries.filter(({ action }) => action === "command refused");
  assert.deepEqual(
    refused.map(({ actor, subject }) => [actor, subject]),
    refusals,
  );
});

test("commands that only read have neither the key-encryption key nor a login that reads the vault", async () => {
  const onlyLooks = await makeLogin();
  const settings = {
    GW_ENV: "production",
    GW_BASE_URL: "https://pay.example",
    GW_DATABASE_URL: onlyLooks,
    GW_MASTER_KEY_FILE: "/nowhere/master.key",
  };

  for (const example of table.looking) {
    const ran = await table.runExample({ ...world, settings }, example, values);

    const code = example.isRefused === true ? 2 : 0;
    assert.equal(ran.code, code, `${example.path}: ${ran.complaint}`);
    assert.ok(!ran.printed.includes(world.set.controlKey), example.path);
  }
  const entries = await readEntries();
  assert.ok(
    entries.some(({ action }) => action === "order export"),
    "orders that leave the gateway are in the audit",
  );
  const changes = await runGw({ ...world, settings }, "merchant", "disable", world.set.login);
  assert.equal(changes.code, 2);
});

test("every command that changes something leaves an entry with its name, even if it is refused halfway", async () => {
  const names = new Set(table.changing.map(({ path }) => nameOf(path)));
  // The settings avoid waiting for nodes, and for hosts that do not answer.
  const settings = { GW_KEY_GRACE_S: "0", GW_ACQUIRER_ANSWER_TIMEOUT_S: "0.2" };
  for (const example of table.changing) {
    const isRecorded = table.commandsOf("record").includes(example.path);
    if (example.isRefused === true && !isRecorded) continue;
    const before = (await readEntries()).length;

    const ran = await table.runExample({ ...world, settings }, example, values);

    if (example.isRefused !== true) assert.equal(ran.code, 0, `${example.path}: ${ran.complaint}`);
    const fresh = (await readEntries()).slice(before);
    const actions = fresh.map(({ action }) => action.replace(/ ended$/, ""));
    // A file leaves the audit entries of the corresponding commands.
    const isFile = example.path === "apply";
    const hasItsName = actions.includes(nameOf(example.path));
    assert.equal(hasItsName, !isFile, `gw ${example.path} left ${actions}`);
    const others = actions.filter((action) => !names.has(action));
    assert.deepEqual(others, [], `the table has no such action: gw ${example.path}`);
    if (!isRecorded) continue;
    const outcome = fresh.find(({ action }) => action === `${example.path} ended`);
    assert.equal(
      outcome?.after?.["outcome"],
      example.isRefused === true ? "refused" : "done",
      example.path,
    );
  }
  const text = JSON.stringify(await readEntries());
  for (const secret of [world.set.controlKey, "a-key-that-the-merchant-has", "0123456789ABCDEF"]) {
    assert.ok(!text.includes(secret), "no secret is in the audit");
  }
});

/** Returns the name of the command without the option of the example. */
function nameOf(path: string): string {
  return path.replace(/ --.*/, "");
}

/** Makes a login of the nodes' role, which cannot read the vault. */
async function makeLogin(): Promise<string> {
  const { database, databaseUrl } = world.installation;
  const name = `only_looks_${process.pid}`;
  await database.query(`create role ${name} login password 'look' in role tollgate_gateway`);
  const url = new URL(databaseUrl);
  return Object.assign(url, { username: name, password: "look" }).href;
}
