/**
 * How many files a reader opens who follows a request through the gateway: those of which a
 * function is called, as V8 counts it. The bounds are what the paths need today, with room for a
 * few; they only shrink.
 */
import assert from "node:assert/strict";
import { Session } from "node:inspector/promises";
import { relative, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { endOfFile } from "../../support/end-of-file.ts";
import { saleFields } from "../../support/merchant.ts";
import { addUser, openBrowser } from "../../support/operator/portal.ts";
import { startWorld } from "../../support/world.ts";

const root = resolve(import.meta.dirname, "../../..");
const world = await startWorld(endOfFile);
const { sync } = world.merchant().endpoint("plain");
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
// What is made once, when it is first needed, is on no path.
const paid = await pay();
await addUser(world, { login: "ann", role: "admin" });
const ann = openBrowser(world.gateway);
await ann.signIn("ann");
await showOrder();

test("a sale passes through few files, from its request to its result", async (t) => {
  assertWithin(t, await filesOf(pay), 113);
});

test("an order in the portal passes through few files", async (t) => {
  assertWithin(t, await filesOf(showOrder), 71);
});

/** It is answered with the result, so that no work of the background is waited for and counted. */
async function pay() {
  const answer = await sync.sale(saleFields());
  assert.equal(answer.status, "approved");
  return answer;
}

async function showOrder(): Promise<void> {
  const { status } = await ann.call("GET /orders/:order", { order: paid["gw-order-id"] ?? "" });
  assert.equal(status, 200);
}

async function filesOf(walk: () => Promise<unknown>): Promise<readonly string[]> {
  await takeFiles();
  await walk();
  return takeFiles();
}

/** Those of which a function was called since the last time; that a file is loaded is no call. */
async function takeFiles(): Promise<readonly string[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const called = result.filter(({ functions }) =>
    functions.some(({ ranges: [range] }) => range && range.count > 0 && range.startOffset > 0),
  );
  return called
    .filter(({ url }) => url.startsWith("file:"))
    .map(({ url }) => relative(root, fileURLToPath(url)))
    .filter((path) => /^(gateway|protocols)\//.test(path))
    .sort();
}

function assertWithin(t: TestContext, files: readonly string[], most: number): void {
  t.diagnostic(`${files.length} files: ${files.join(" ")}`);
  assert.ok(files.length <= most, `${files.length} files, and at most ${most} were expected`);
}
