/**
 * `gw callback listen --gateway`: sends the demonstration merchant's callbacks to a developer's
 * machine that the gateway cannot reach. The command is a process without database and keys.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { findFreePort } from "../../support/bank/results-balancer.ts";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { runGw, startProgram } from "../../support/programs.ts";
import { answerWith, type Heard, startReceiver } from "../../support/receiver.ts";
import { untilTrue } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const gw = join(import.meta.dirname, "../../../gateway/cli/gw.ts");
// The port stays the same when the gateway starts again.
const world = await startWorld(endOfFile, { GW_PORT: String(await findFreePort()) });
const { login, controlKey } = world.set;

async function startListener(
  t: TestContext,
  { gateway = world.gateway.url },
  ...words: readonly string[]
) {
  const given = [gw, "callback", "listen", "--gateway", gateway, ...words];
  const nothing = { GW_DATA_DIR: "/nonexistent", GW_DATABASE_URL: "postgres://127.0.0.1:1/none" };
  const program = startProgram(given, nothing);
  atEnd(t, () => program.kill());
  await untilTrue("it listens", () => /Ctrl-C/.test(program.output) || !program.isRunning);
  return program;
}

test("callbacks are forwarded as the gateway sends them, also after a restart", async (t) => {
  const direct = await startReceiver(t);
  const developer = await startReceiver(t, answerWith(202));
  const listener = await startListener(t, {}, "--forward-to", `${developer.url}/cb`);
  const url = `${direct.url}/cb?shop=7&amount=0.01`;

  for (const [at, method] of (["GET", "POST", "JSON"] as const).entries()) {
    // The gateway restarts with it, and the second order is made while the listener waits.
    await world.changeEndpoint("plain", { callbackMethod: method });
    await world.merchant().sale({ server_callback_url: url });
    await world.settle();
    const sent = (await direct.untilHeard(at + 1))[at];
    const forwarded = (await developer.untilHeard(at + 1))[at];

    assert.ok(sent !== undefined && forwarded !== undefined);
    assert.deepEqual(withoutHost(forwarded), withoutHost(sent));
    assert.match(forwarded.path, /^\/cb\?shop=7(&status=approved|$)/);
  }

  const printed = () => listener.output.match(/^.*, right control of demo, answer 202$/gm) ?? [];
  await untilTrue("all are printed", () => printed().length === 3);
  assert.deepEqual(
    printed().map((line) => line.replace(/,.*/, "")),
    ["GET", "POST", "POST"],
  );
  assert.equal(developer.heard.length, 3);
  assert.equal(await listener.stop(), 0);
});

test("without --forward-to callbacks are printed, with masked card numbers", async (t) => {
  await world.changeEndpoint("plain", { callbackMethod: "GET" });
  const listener = await startListener(t, {}, "--json");
  const unreachable = { server_callback_url: "http://127.0.0.1:1/cb" };

  const order = await world.merchant().sale({ ...unreachable, merchant_data: "4000001000000018" });
  await world.settle();

  const printed = () => /^\{.*$/m.exec(listener.output)?.[0];
  await untilTrue("it is printed", () => printed() !== undefined);
  const { method, control, status, fields } = JSON.parse(printed() ?? "");
  assert.deepEqual([method, control, status], ["GET", login, undefined]);
  assert.equal(fields.orderid, order["gw-order-id"]);
  assert.equal(fields.merchantdata, "************0018");
});

// biome-ignore format: a table
const refusals: readonly (readonly [words: readonly string[], sentence: RegExp])[] = [
  [["--gateway", "http://127.0.0.1:1"],                                      /^No gateway answers at http:\/\/127\.0\.0\.1:1: /],
  [["--gateway", "localhost"],                                               /is no address/],
  [["--gateway", "http://127.0.0.1:1", "--forward-to", "localhost:3000/cb"], /localhost:3000\/cb is no address/],
  [["--forward-to", "http://localhost:3000/cb"],                             /needs --gateway/],
];

test("an unreachable gateway and unknown options are named", async () => {
  for (const [words, sentence] of refusals) {
    const { code, complaint } = await runGw(world, "callback", "listen", ...words);

    assert.match(complaint, sentence);
    assert.equal(code, 2);
  }
});

test("only the demonstration merchant gets callbacks, and only its own", async () => {
  const stranger = await world.stranger();
  const url = "http://127.0.0.1:1/cb";
  const theirs = await stranger.sale({ server_callback_url: url });
  const own = await world.merchant().sale({ server_callback_url: url });
  await world.settle();
  const list = (fields: Fields) => ask("/sandbox/callbacks", fields);
  const write = (order: string, fields: Fields) => ask(`/sandbox/callbacks/${order}/1`, fields);
  const [ours, others] = [own["gw-order-id"], theirs["gw-order-id"]];
  const { login: other, controlKey: otherKey } = stranger.set;

  const listed = await list({ login, since: "0", control: sign(controlKey, login, "0") });
  const { callbacks } = (await listed.json()) as { callbacks: readonly { order: string }[] };

  assert.ok(callbacks.some(({ order }) => order === ours));
  assert.ok(!callbacks.some(({ order }) => order === others));
  // biome-ignore format: a table
  const asked: readonly (readonly [what: string, answer: Promise<Response>, status: number])[] = [
    ["nothing",               list({}),                                                                           403],
    ["another merchant's",    list({ login: other, since: "", control: sign(otherKey, other, "") }),              403],
    ["another's signature",   list({ login, since: "", control: sign(otherKey, login, "") }),                     403],
    ["another moment",        list({ login, since: "1", control: sign(controlKey, login, "0") }),                 403],
    ["one's own",             write(ours, { login, to: "", control: sign(controlKey, login, ours, "1", "") }),    200],
    ["another order",         write(ours, { login, to: "", control: sign(controlKey, login, others, "1", "") }),  403],
    ["another address",       write(ours, { login, to: url, control: sign(controlKey, login, ours, "1", "") }),   403],
    ["no address",            write(ours, { login, to: "x:y", control: sign(controlKey, login, ours, "1", "x:y") }), 403],
    ["a stranger's order",    write(others, { login, to: "", control: sign(controlKey, login, others, "1", "") }), 404],
    ["no order",              write("x", { login, to: "", control: sign(controlKey, login, "x", "1", "") }),      404],
  ];
  for (const [what, answer, status] of asked) assert.equal((await answer).status, status, what);
});

test("a foreign gateway cannot redirect the developer's machine", async (t) => {
  const elsewhere = await startReceiver(t);
  const developer = await startReceiver(t);
  const written = {
    method: "GET",
    url: `${elsewhere.url}/steal?orderid=1`,
    body: "",
    headers: { "webhook-id": "1-1", cookie: "a=b" },
  };
  let count = 0;
  const strange = await startReceiver(t, (response, { path, method }) => {
    const callbacks = count === 0 ? [] : [{ order: "1", sequence: 1 }];
    if (path === "/sandbox/callbacks") count += 1;
    const listed = path === "/sandbox/callbacks" ? { now: 1, callbacks } : written;
    const content = method === "GET" ? { LOGIN: login, CONTROL_KEY: controlKey } : listed;
    response.end(JSON.stringify(content));
  });
  await startListener(t, { gateway: strange.url }, "--forward-to", `${developer.url}/cb`);

  const [heard] = await developer.untilHeard(1);

  assert.equal(heard?.path, "/cb?orderid=1");
  assert.equal(heard.headers["webhook-id"], "1-1");
  assert.equal(heard.headers.cookie, undefined);
  assert.equal(elsewhere.heard.length, 0);
});

type Fields = Readonly<Record<string, string>>;

function ask(path: string, fields: Fields): Promise<Response> {
  return fetch(world.gateway.url + path, { method: "POST", body: new URLSearchParams(fields) });
}

function sign(key: string, ...parts: readonly string[]): string {
  const text = ["callbacks", ...parts].join("/");
  return createHash("sha1").update(`${text}${key}`).digest("hex");
}

function withoutHost({ headers: { host: _, ...headers }, ...request }: Heard) {
  return { ...request, headers };
}
