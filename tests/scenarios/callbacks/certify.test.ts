/**
 * `gw certify` with the demonstration shop, which passes all checks, and with a careless shop that
 * trusts every callback. The command and the shop are processes.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { writeKey } from "../../support/operator/examples.ts";
import { runGw, startProgram } from "../../support/programs.ts";
import { until, untilTrue } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
/** Only callbacks of `gw certify` arrive. */
const unreachable = "http://127.0.0.1:1/callback";

test("certify gives the demonstration shop full marks, and a careless copy fewer", async () => {
  const [shop, careless] = await Promise.all([startShop(), startCareless()]);
  const full = startCertify(shop, "--json");
  // The shop never asks for a status, so the time limit does not matter.
  const few = startCertify(careless, "--asks-within", "1");

  await untilTrue("both wait for the order in doubt", () =>
    [full, few].every(({ output, isRunning }) => /Playing: in doubt/.test(output) || !isRunning),
  );
  // The acquirer's answer is late by now, so the gateway reverses the charge.
  await world.pass(60_000);
  await untilTrue("both have graded", () => !full.isRunning && !few.isRunning);

  const { points, of, checks } = JSON.parse(full.output.slice(full.output.indexOf("{")));
  assert.deepEqual([points, of, full.child.exitCode], [100, 100, 0], full.output);
  assert.ok(checks.every(({ reason }: { reason?: string }) => reason === undefined));
  const lost = few.output.matchAll(
    /^(\w+): (\d+) points lost\. (.*)\n.*\n {2}Read: .*\/docs\/(.*)$/gm,
  );
  // biome-ignore format: a table
  assert.deepEqual([...lost].map((groups) => groups.slice(1)), [
    ["paid",      "10", "At the end: The order counts 2 as shipped, and should count 1.", "callbacks#your-response"],
    ["duplicate", "10", "The order counts 2 as shipped, and should count 1.",    "callbacks#repeats"],
    ["reordered", "10", "The order is paid, and should be refunded.",            "callbacks#your-response"],
    ["delayed",   "5",  "The order is open, and should be paid.",                "merchant-api/status"],
    ["forged",    "15", "A forged approval was answered with 2xx.",              "callbacks#the-request"],
    ["disputed",  "5",  "The order counts 2 as shipped, and should count 1.",    "callbacks#chargebacks"],
    ["replayed",  "10", "The order is refunded, and should be paid.",            "callbacks#which-fields-are-proven"],
    ["repeated",  "10", "At the end: The gateway has more than one order for one purchase.", "concepts#repeats"],
  ]);
  assert.match(few.output, /^25 of 100 points\.$/m);
  assert.equal(few.child.exitCode, 1);
});

// biome-ignore format: a table
const refusals: readonly (readonly [changes: Readonly<Record<string, string>>, sentence: RegExp])[] = [
  [{ "--gateway": "http://127.0.0.1:1" },               /^No gateway answers/],
  [{ "--order-url": "http://127.0.0.1:1/{order}" },     /^Nothing answers at http:\/\/127\.0\.0\.1:1/],
  [{ "--order-url": "http://127.0.0.1:1/orders" },      /has no \{order\} in it/],
  [{ "--callback-url": "localhost:3000" },              /localhost:3000 is no address/],
  [{ "--wait": "soon" },                                /numbers of seconds/],
];

test("certify names what keeps it from starting, and ends with 2", async () => {
  for (const [changes, sentence] of refusals) {
    const given = { ...wordsFor("http://127.0.0.1:1"), ...changes };
    const { code, complaint } = await runGw(world, "certify", ...Object.entries(given).flat());

    assert.match(complaint, sentence);
    assert.equal(code, 2);
  }
});

function wordsFor(url: string) {
  return {
    "--gateway": world.gateway.url,
    "--purchase-url": `${url}/buy`,
    "--callback-url": `${url}/callback`,
    "--order-url": `${url}/orders/{order}.json`,
  };
}

function startCertify(url: string, ...more: string[]) {
  const words = Object.entries(wordsFor(url)).flat();
  const program = startProgram(["gateway/cli/gw.ts", "certify", ...words, ...more], {});
  atEnd(endOfFile, () => program.kill());
  return program;
}

async function startShop(): Promise<string> {
  const { login, controlKey, endpoints, group } = world.set;
  const privateKeyFile = await writeKey(world, world.dataDir);
  const demo = {
    baseUrl: world.gateway.url,
    merchant: { login, controlKey },
    oauth: { privateKeyFile },
    endpoints,
    group,
    bank: { url: world.bank.url },
  };
  await writeFile(join(world.dataDir, "demo.json"), JSON.stringify(demo));
  const shop = startProgram(["examples/shop/shop.ts"], {
    GW_DATA_DIR: world.dataDir,
    SHOP_PORT: "0",
    SHOP_CALLBACK_URL: unreachable,
    SHOP_ASK_EVERY_S: "1",
  });
  atEnd(endOfFile, () => shop.stop());
  return until("the shop is open", () => {
    assert.ok(shop.isRunning, shop.output);
    return /open at (\S+)\/$/m.exec(shop.output)?.[1];
  });
}

/**
 * Starts a shop that verifies nothing, never asks for a status, ships at each approval, and sells
 * at each click.
 */
async function startCareless(): Promise<string> {
  const merchant = world.merchant("secure");
  const orders = new Map<string, { state: string; shipped: number }>();
  let clicks = 0;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://shop.example");
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    if (url.pathname === "/buy") await buy(form);
    if (url.pathname === "/callback") believe(Object.fromEntries(url.searchParams));
    const [, order = ""] = /^\/orders\/(.*)\.json$/.exec(url.pathname) ?? [];
    const body = orders.get(order);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(endOfFile, () => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function buy({ order = "", ...card }: Readonly<Record<string, string>>): Promise<void> {
    orders.set(order, { state: "open", shipped: 0 });
    clicks += 1;
    const addresses = { notify_url: unreachable, redirect_url: "http://shop.example/" };
    await merchant.sale({ ...card, ...addresses, client_orderid: `${order}-${clicks}` });
  }

  function believe({ client_orderid = "", status, type }: Readonly<Record<string, string>>): void {
    const id = client_orderid.replace(/-\d+$/, "");
    const { shipped = 0 } = orders.get(id) ?? {};
    if (status === "error") shipAgain();
    if (status !== "approved") orders.set(id, { state: "failed", shipped });
    else if (type === "reversal") orders.set(id, { state: "refunded", shipped });
    else orders.set(id, { state: "paid", shipped: shipped + 1 });
  }

  /** Ships again after all checks, so that only the final check of every order notices it. */
  function shipAgain(): void {
    for (const order of orders.values()) if (order.state === "paid") order.shipped += 1;
  }
}
