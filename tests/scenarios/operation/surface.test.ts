/**
 * The ports of a production gateway, and who reaches them: the portal on a port and network of its
 * own, metrics never on the public port, and the proxies of `docs/network.md` in front of it.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { findFreePort } from "../../support/bank/results-balancer.ts";
import { makeAuthority } from "../../support/bank/tls-line.ts";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { makeFolder } from "../../support/folder.ts";
import { readFences } from "../../support/operator/document.ts";
import { addUser, openBrowser, password } from "../../support/operator/portal.ts";
import { startShell } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const production = { environment: "production", trustedProxies: "127.0.0.1/32" } as const;

async function statusOf(port: number, path: string, from = "10.9.0.1"): Promise<number> {
  const headers: Record<string, string> = from === "" ? {} : { "x-forwarded-for": from };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  // A server does not close while an answer is on its way.
  await answer.text();
  return answer.status;
}

test("the portal is only on its own port, for clients of its networks", async () => {
  const own = { ...production, portalPort: 0, portalNetworks: "10.9.0.0/16" } as const;
  const { port, portalPort } = await world.otherNode("portal", own);
  await addUser(world, { login: "inside", role: "merchant-viewer", merchant: "demo" });

  for (const path of ["/portal", "/portal/orders", "/portal/api/session"]) {
    assert.equal(await statusOf(port, path), 404, path);
    assert.equal(await statusOf(portalPort, path), 200, path);
    assert.equal(await statusOf(portalPort, path, "10.8.0.1"), 404, path);
  }
  assert.equal(await statusOf(portalPort, "/gw/view-receipt/1/1"), 404);
  const signIn = (from: string, origin: string) =>
    openBrowser({ port: portalPort }, { "x-forwarded-for": from, origin }).call("POST /sign-in", {
      login: "inside@demo",
      password,
    });
  const there = `http://localhost:${portalPort}`;
  assert.equal((await signIn("10.9.1.1", there)).status, 200);
  assert.equal((await signIn("10.9.1.1", `http://localhost:${port}`)).status, 403);
  assert.equal((await signIn("203.0.113.7, 10.9.1.1, 198.51.100.1", there)).status, 404);
});

test("without a port of its own, the portal is on the public port for its networks only", async () => {
  const { port } = await world.otherNode("both", { ...production, portalNetworks: "10.9.0.0/16" });

  assert.equal(await statusOf(port, "/portal/api/session"), 200);
  assert.equal(await statusOf(port, "/portal/api/session", "192.0.2.1"), 404);
});

test("a proxy that names no client does not reach the portal, although its own address may", async () => {
  const networks = { portalNetworks: "127.0.0.0/8,10.9.0.0/16" };
  const { port } = await world.otherNode("unnamed", { ...production, ...networks });

  assert.equal(await statusOf(port, "/portal/api/session", ""), 403);
  assert.equal(await statusOf(port, "/portal/api/session", "unknown"), 403);
  assert.equal(await statusOf(port, "/portal/api/session"), 200);
});

/** Sends the path unchanged; `fetch` and `request` would normalise it. */
async function rawStatusOf(port: number, path: string): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  const from = "x-forwarded-for: 10.9.0.1";
  socket.write(`GET ${path} HTTP/1.1\r\nhost: pay.example\r\n${from}\r\nconnection: close\r\n\r\n`);
  return Number((await text(socket)).split(" ")[1]);
}

test("a path that steps out of its folder has no route, encoded or not", async () => {
  const { port } = await world.otherNode("paths", production);
  assert.equal(await rawStatusOf(port, "/portal/orders"), 200);

  for (const path of [
    ...["/portal/../gw/", "/portal/..", "/portal/./orders", "/gw/../portal/orders"],
    ...["/portal/%2e%2e/gw", "/portal/.%2E", "/portal/orders%2f1", "/gw%2F..%2Fportal"],
    ...["/portal/..%5cgw", "/portal/a\\..\\gw", "/gw/view-receipt/1/%2e%2e"],
  ]) {
    assert.equal(await rawStatusOf(port, path), 404, path);
  }
});

test("in production the public port never has metrics, even without a port for them", async () => {
  const { port } = await world.otherNode("figures", production);

  assert.equal(await statusOf(port, "/metrics"), 404);
  assert.equal(await statusOf(port, "/health/live"), 200);
  assert.equal(await statusOf(world.gateway.port, "/metrics"), 200, "staging");
});

const fences = await readFences("docs/network.md");

/**
 * The surroundings of the documented configuration, and how each proxy is started in the
 * foreground.
 */
const proxies = {
  nginx: {
    command: "nginx -p . -c proxy.conf -g 'daemon off;'",
    around: (text: string) => `user root;\npid proxy.pid;\nevents {}\nhttp {\n${text}}\n`,
  },
  haproxy: { command: "haproxy -db -f proxy.conf", around: (text: string) => text },
} as const;

for (const [name, { command, around }] of Object.entries(proxies)) {
  const isMissing = spawnSync(name, ["-v"]).error !== undefined;
  const skip = isMissing && `${name} is not installed`;

  test(`${name} as documented passes what merchants and browsers need, and nothing else`, {
    skip,
  }, async (t) => {
    const folder = await makeFolder(t, name);
    const node = await world.otherNode(name, production);
    const port = await findFreePort();
    const authority = await makeAuthority("Proxy CA");
    const { cert, key } = await authority.issue("pay.example", 9);
    await writeFile(join(folder, "fullchain.pem"), cert);
    await writeFile(join(folder, "privkey.pem"), key);
    await writeFile(join(folder, "pay.pem"), cert + key);
    const [fence] = fences.filter(({ language }) => language === name);
    const written = (fence?.text ?? assert.fail("the document has no such configuration"))
      .replaceAll(/\/etc\/(nginx|haproxy)\/tls/g, folder)
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${node.port}`)
      .replace(/(listen |bind :)443/, (_, word: string) => `${word}${port}`);
    await writeFile(join(folder, "proxy.conf"), around(written));
    await writeFile(join(folder, "proxy.sh"), `exec ${command}\n`);
    const proxy = startShell("proxy.sh", folder, {});
    atEnd(t, () => proxy.stop());
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      // This is another address than that of the trusted proxy.
      const from = { localAddress: "127.0.0.2", headers, agent: false as const };
      const to = { host: "127.0.0.1", port, path, ...from };
      const asked = request({ ...to, ca: authority.ca, servername: "localhost" }).end();
      const [answer] = await once(asked, "response");
      return { status: Number(answer.statusCode), body: await text(answer) };
    };
    await until("the proxy listens", async () => {
      assert.ok(proxy.isRunning, proxy.output);
      return ask("/").catch(() => undefined);
    });

    assert.match((await ask("/pay/unknown")).body, /<html lang/);
    assert.match((await ask("/gw/view-receipt/1/1")).body, /No receipt here/);
    const closed = ["/", "/portal", "/portal/api/session", "/metrics", "/health/live", "/gw"];
    for (const path of [
      ...closed,
      "/gw/../metrics",
      "/gw/%2e%2e/metrics",
      "//portal/api/session",
    ]) {
      const { status, body } = await ask(path);
      assert.ok(status === 404 || status === 400, `${path}: ${status}`);
      assert.doesNotMatch(body, /tollgate_|"status"|csrf/, path);
    }
    const guesses: number[] = [];
    for (let count = 0; count < 61; count += 1) {
      const forged = { "x-forwarded-for": `203.0.113.${count}` };
      guesses.push((await ask(`/gw/view-receipt/1/${count}`, forged)).status);
    }
    assert.equal(guesses.at(-1), 429, "a client cannot name itself through the proxy");
  });
}
