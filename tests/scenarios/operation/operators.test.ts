/** Commands of operators while a gateway runs, and their entries in the audit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClient } from "@tollgate/client";
import { endOfFile } from "../../support/end-of-file.ts";
import { assertRefused } from "../../support/expect.ts";
import { makeMerchant, saleFields } from "../../support/merchant.ts";
import { readGw, runGw, runGwWith } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const uuid = /^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/;
const world = await startWorld(endOfFile);

const currencyNotSupported = 10;
const unknownEndpoint = 3;
const wrongControl = 2;

test("a disabled merchant can only read statuses, and a disabled endpoint still completes its orders", async () => {
  const merchant = world.merchant();
  const [first, second] = [await merchant.sale(), await merchant.preauth()];
  await world.settle();
  const id = world.set.endpoints["plain"] ?? "";

  await runGw(world, "endpoint", "set", id, "--disable");
  await untilRefused(() => merchant.sale());
  await assertRefused(merchant.group().sale(saleFields()), currencyNotSupported);
  const captured = await merchant.capture(second);
  await world.settle();
  const status = await merchant.status(first);
  await runGw(world, "endpoint", "set", id, "--enable");
  await untilServed(() => merchant.sale());
  await runGw(world, "merchant", "disable", world.set.login);
  await untilRefused(() => merchant.sale());
  await assertRefused(merchant.return(first), unknownEndpoint);
  const still = await merchant.status(first);
  await runGw(world, "merchant", "enable", world.set.login);
  await untilServed(() => merchant.return(first));

  assert.equal(captured.type, "async-response");
  assert.equal(status.status, "approved");
  assert.equal(still.status, "approved");
  await world.settle();
});

test("a merchant is shown without secrets; revealing them is in the audit", async () => {
  const { login, controlKey } = world.set;

  const shown = await runGw(world, "merchant", "show", login, "--json");
  const revealed = await runGw(world, "merchant", "show", login, "--reveal", "--json");

  assert.ok(!shown.printed.includes(controlKey));
  assert.equal(JSON.parse(revealed.printed).controlKey, controlKey);
  assert.deepEqual(await actionsOf(world, "merchant show"), [
    ["merchant show", `merchant ${login}`, ""],
  ]);
});

test("a user's role decides which commands are refused, and every change has its entry", async () => {
  const as = (user: string) => ({ ...world, settings: { GW_USER: user } });
  await runGw(world, "user", "add", "sue", "--role", "support");
  await runGw(world, "user", "add", "ann", "--role", "auditor");
  await runGw(
    world,
    "user",
    "add",
    "mel",
    "--role",
    "merchant-admin",
    "--merchant",
    world.set.login,
  );

  const seen = await runGw(as("sue"), "merchant", "list");
  const change = await runGw(as("sue"), "merchant", "disable", world.set.login);
  const reveal = await runGw(as("sue"), "merchant", "show", world.set.login, "--reveal");
  const audited = await runGw(as("ann"), "audit", "list");
  const merchants = await runGw(as(`mel@${world.set.login}`), "merchant", "list");
  await runGw(world, "user", "disable", "ann");
  const disabled = await runGw(as("ann"), "audit", "list");
  const strange = await runGw({ ...world, settings: { GW_USERS_ONLY: "on" } }, "merchant", "list");
  const unknown = await runGw(world, "user", "add", "eve", "--role", "root");

  assert.equal(seen.code, 0, seen.complaint);
  assert.match(
    change.complaint,
    /The role support of sue does not have the right change_merchants/,
  );
  assert.match(reveal.complaint, /does not have the right reveal_secrets/);
  assert.ok(!reveal.printed.includes(world.set.controlKey));
  assert.equal(audited.code, 0, audited.complaint);
  assert.match(merchants.complaint, /is a merchant's user: only operators run commands/);
  assert.match(disabled.complaint, /The user ann is disabled/);
  assert.match(strange.complaint, /is no user: GW_USERS_ONLY is on/);
  assert.match(unknown.complaint, /^role is one of admin, /);
  assert.equal((await actionsOf(world, "user add")).length, 3);
  assert.equal((await actionsOf(world, "user disable")).length, 1);
  const verified = await runGw(world, "audit", "verify");
  assert.equal(verified.code, 0, verified.printed + verified.complaint);
  assert.match(verified.printed, /The audit is whole/);
});

test("a control key is renewed with overlap, and the last use of the old one is shown", async () => {
  const before = world.merchant();
  const { login } = world.set;

  const renewed = await readGw(world, "merchant", "control-key", "renew", login, "--why", "leaked");
  const { controlKey } = renewed as { readonly controlKey: string };
  const after = makeMerchant({
    set: { ...world.set, controlKey },
    baseUrl: () => world.gateway.url,
    makeClient,
  });
  await untilServed(() => after.sale());
  await before.sale();
  const shown = await until("the use is stored", async () => {
    const { oldControlKeyLastUsed } = await show(world, login);
    return oldControlKeyLastUsed === "never" ? undefined : oldControlKeyLastUsed;
  });
  const dropped = await runGw(world, "merchant", "control-key", "drop", login);
  await until("the old key is refused", async () => {
    const answer = await before.sale().catch(() => undefined);
    return answer === undefined || undefined;
  });

  assert.match(controlKey, uuid);
  assert.match(String(shown), /^\d{4}-\d\d-\d\d /);
  assert.equal(dropped.code, 0, dropped.complaint);
  await assertRefused(before.sale(), wrongControl);
  await after.sale();
  const again = await runGw(world, "merchant", "control-key", "drop", login);
  assert.match(again.complaint, /has no old key/);
  assert.deepEqual(await actionsOf(world, "merchant control-key").then((all) => all.slice(-2)), [
    ["merchant control-key renew", `merchant ${login}`, "leaked"],
    ["merchant control-key drop", `merchant ${login}`, ""],
  ]);
  await world.settle();
});

test("a gate and an endpoint are shown by the names of the options that set them", async () => {
  const id = world.set.endpoints["plain"] ?? "";
  await runGw(world, "endpoint", "set", id, "--max", "500", "--why", "smaller risk");

  const [gate, endpoint] = await Promise.all([
    runGw(world, "gate", "show", "sandbox"),
    runGw(world, "endpoint", "show", id),
  ]);
  const [forPrograms, missing] = [
    await readGw(world, "endpoint", "show", id),
    await runGw(world, "endpoint", "show", "9999999"),
  ];

  for (const [subject, { printed }] of [
    ["gate", gate],
    ["endpoint", endpoint],
  ] as const) {
    const { printed: help } = await runGw(world, subject, "set", "--help");
    const names = printed.match(/^\S+/gm) ?? [];
    const settings = names.filter((name) => !shownBeside.includes(name));
    assert.ok(settings.length > 10, printed);
    for (const name of settings) assert.match(help, new RegExp(`--(?:no-)?${name}\\b`));
  }
  assert.match(endpoint.printed, /^max +500\.00$/m);
  assert.match(endpoint.printed, /^private-callbacks +off$/m);
  assert.equal((forPrograms as { readonly id: string }).id, id);
  assert.equal(missing.code, 2);
});

/** Fields that are not settings. */
const shownBeside = ["name", "id", "merchant", "currency", "state", "gates", "endpoints"];

test("an entry of the audit is a line, followed by one for each changed value", async () => {
  const id = world.set.endpoints["plain"] ?? "";
  const set = (max: string) =>
    runGw(world, "endpoint", "set", id, "--max", max, "--why", "for a while");
  await set("600");
  await set("700");

  const { printed } = await runGw(world, "audit", "list", "--subject", `endpoint ${id}`);

  assert.ok(
    printed.split("\n").every((line) => line.length <= terminalColumns),
    printed,
  );
  const last = printed.split(/\n(?=\d)/).at(-1) ?? "";
  assert.match(last, /^\d+ {2}\S+ \S+ UTC {2}\S.* \(\S+\) {2}endpoint set {2}endpoint \d+\n/);
  assert.match(last, /^ {4}why: for a while\n {4}settings\.amountMax: 60000 -> 70000\n$/m);
});

const terminalColumns = 100;

test("a merchant's own key is read from standard input, and an invalid one is refused", async () => {
  const { login } = world.set;
  const set = (input: string) => runGwWith(input, world, "merchant", "control-key", "set", login);

  const short = await set("tooshort");
  const spaced = await set("sixteen characters but spaces");
  const good = await set("an-existing-key-of-theirs\n");

  assert.equal(short.code, 2);
  assert.equal(spaced.code, 2);
  assert.equal(good.code, 0, good.complaint);
  assert.doesNotMatch(good.printed + short.complaint, /existing|tooshort/);
  const merchant = makeMerchant({
    set: { ...world.set, controlKey: "an-existing-key-of-theirs" },
    baseUrl: () => world.gateway.url,
    makeClient,
  });
  await untilServed(() => merchant.sale());
  await world.settle();
});

async function show(world: World, login: string) {
  const shown = await readGw(world, "merchant", "show", login);
  return shown as { readonly oldControlKeyLastUsed?: string };
}

async function actionsOf(world: World, action: string) {
  const rows = await readGw(world, "audit", "list", "--action", action);
  return (rows as readonly Readonly<Record<string, string>>[]).map((row) => [
    ...[row["action"], row["subject"], row["why"]],
  ]);
}

/** Waits until nodes use a change, of which they are notified. */
function untilServed(send: () => Promise<unknown>) {
  return until("the gateway serves it", () =>
    send()
      .then(() => true as const)
      .catch(() => undefined),
  );
}

function untilRefused(send: () => Promise<unknown>) {
  return until("the gateway refuses it", () =>
    send()
      .then(() => undefined)
      .catch(() => true as const),
  );
}
