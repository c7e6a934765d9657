/** TLS to the host: certificates on both sides, their renewal, and every cause of a refusal. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { connectionsOf, countSignOns, gateOf, untilConnections } from "../../support/bank/links.ts";
import { makeAuthority, startTlsLine, writeIdentity } from "../../support/bank/tls-line.ts";
import { atEnd } from "../../support/clean-up.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { until, untilTrue } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const firstTryMs = 250;

/** The sandbox bank's own certificates, as files of a gate. */
function bankFiles({ bank }: World) {
  const file = (name: string) => join(bank.tlsFolder, name);
  const client = {
    tlsCertificateFile: file("host-client.pem"),
    tlsKeyFile: file("host-client.key"),
  };
  return { roots: { tls: true, tlsRootsFile: file("host-ca.pem") }, client };
}

testOnEachDialect(
  "a payment, its capture and its refund travel over mutual TLS, on several connections",
  async (t, { through }) => {
    const world = await startWorld(t);
    const merchant = world.merchant(through);
    const { name } = await gateOf(world, through);
    const { roots, client } = bankFiles(world);
    await world.bank.setSwitches({ demandCertificate: true });
    await world.changeGate(name, { ...roots, ...client, connections: 2 });
    await untilConnections(world, name, "2 of 2");

    const held = await merchant.preauth();
    await world.settle();
    await merchant.capture(held);
    await world.settle();
    await merchant.return(held, { amount: "1.00" });
    await world.settle();

    assert.equal((await merchant.status(held))["order-stage"], "reversal_approved");
  },
);

// biome-ignore format: a table
const refusals: readonly (readonly [what: string, settings: (world: World) => object, why: RegExp])[] = [
  ["a certificate of an unknown authority", ({ bank }) => ({ tls: true, tlsRootsFile: join(bank.tlsFolder, "directory-ca.pem") }), /tls: the host's certificate is of an unknown authority/],
  ["a certificate with another name",       (world) => ({ ...bankFiles(world).roots, tlsServerName: "host.example" }),            /tls: the host's certificate has another name/],
  ["no client certificate",                 (world) => bankFiles(world).roots,                                                    /tls: the host demands a client certificate|ECONNRESET|EPIPE|closed by the host/],
  ["files that are not there",              () => ({ tls: true, tlsRootsFile: "/nowhere/ca.pem" }),                               /tls: ENOENT/],
];

for (const [what, settingsOf, why] of refusals) {
  testOnEachDialect(
    `a link with ${what} does not come up, and says why`,
    async (t, { through, mti }) => {
      const world = await startWorld(t);
      const merchant = world.merchant(through);
      const { name } = await gateOf(world, through);
      await world.bank.setSwitches({ demandCertificate: true });
      await world.changeGate(name, settingsOf(world), name);

      const line = await until("the link is lost", () => world.logged.find(isLinkDown));
      const sale = await merchant.sale();
      await world.settle();

      assert.match(line, why);
      assert.equal((await merchant.status(sale)).status, "error");
      assert.deepEqual(
        world.bank.messages().filter((each) => each.mti === mti("0200")),
        [],
      );
    },
  );
}

function isLinkDown(line: string): boolean {
  return line.includes('"acquirer.link_down"');
}

testOnEachDialect(
  "a host whose certificate has expired is not talked to",
  async (t, { through }) => {
    const world = await startWorld(t);
    const gate = await gateOf(world, through);
    const authority = await makeAuthority("Test Authority");
    const line = await startTlsLine(t, gate, await authority.issue("Host", -1));
    const tlsRootsFile = join(world.dataDir, "test-ca.pem");
    await writeFile(tlsRootsFile, authority.ca);
    await world.changeGate(gate.name, { port: line.port, tls: true, tlsRootsFile }, gate.name);

    await until("it says so", () => world.logged.find((each) => /has expired \(CERT_/.test(each)));
    assert.ok(world.logged.some((each) => each.includes('"acquirer.tls_failed"')));
    assert.equal(await connectionsOf(world, gate.name), "0 of 1");
  },
);

testOnEachDialect(
  "renewed client certificates count for new connections, and healthy ones stay",
  async (t, { through }) => {
    const world = await startWorld(t);
    const merchant = world.merchant(through);
    const gate = await gateOf(world, through);
    const authority = await makeAuthority("Test Authority");
    const own = await authority.issue("Host", 300);
    const line = await startTlsLine(t, gate, { ...own, clients: authority.ca });
    const tlsRootsFile = join(world.dataDir, "test-ca.pem");
    await writeFile(tlsRootsFile, authority.ca);
    const write = async (name: string, days: number) =>
      writeIdentity(t, world.dataDir, "client", await authority.issue(name, days));
    const { certificate, key } = await write("Old", 5);
    const files = { tlsRootsFile, tlsCertificateFile: certificate, tlsKeyFile: key };
    await world.changeGate(gate.name, { port: line.port, tls: true, ...files });
    const signOns = countSignOns(world);
    const { printed: warned } = await runGw(world, "doctor");

    await write("New", 300);
    await world.setGate(gate.name, { fee: { percent: "1" } });
    const sale = await merchant.sale();
    await world.settle();
    const before = [...line.shown];
    line.dropAll();
    await untilConnections(world, gate.name, "0 of 1");
    await untilConnections(world, gate.name, "1 of 1", () => world.clock.advance(firstTryMs));
    await writeFile(certificate, "no certificate");
    line.dropAll();
    await untilConnections(world, gate.name, "0 of 1");
    await untilConnections(world, gate.name, "1 of 1", () => world.clock.advance(firstTryMs));

    assert.deepEqual([...new Set(before)], ["Old"]);
    assert.deepEqual([...new Set(line.shown.slice(before.length))], ["New"]);
    assert.equal(countSignOns(world), signOns + 2);
    assert.equal((await merchant.status(sale)).status, "approved");
    assert.match(warned, /client certificate of the gate \S+ expires in 4 days/);
    const logged = world.logged.join("\n");
    assert.match(logged, /"acquirer.certificate_expiring"/);
    assert.match(logged, /"acquirer.certificate_unusable"/);
  },
);

test("the gateway gives up a host that does not finish the handshake in time", async (t) => {
  const world = await startWorld(t);
  const gate = await gateOf(world, "plain");
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => socket.destroy()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await world.changeGate(gate.name, { port, ...bankFiles(world).roots }, gate.name);
  await untilTrue("it is connected", () => sockets.length > 0);

  await until("it is given up", () => {
    world.clock.advance(1_000);
    return world.logged.find((line) => /tls: the host did not finish the handshake/.test(line));
  });
});

test("a gate's TLS is set, shown and checked by its commands", async (t) => {
  const world = await startWorld(t);
  const file = (name: string) => join(world.bank.tlsFolder, name);
  const set = (...options: readonly string[]) => runGw(world, "gate", "set", "sandbox", ...options);

  const wrong = await set("--tls", "on", "--tls-roots", "/nowhere.pem");
  const swapped = await set(
    ...["--tls", "on", "--tls-certificate", file("host.pem")],
    ...["--tls-key", file("host-client.key")],
  );
  const right = await set(
    ...["--tls", "on", "--tls-roots", file("host-ca.pem"), "--connections", "2"],
    ...["--tls-certificate", file("host-client.pem"), "--tls-key", file("host-client.key")],
  );
  await untilConnections(world, "sandbox", "2 of 2");
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
  const shown = await readGw(world, "gate", "show", "sandbox");
  await set("--no-sandbox", "--tls", "off");
  await runGw(world, "gate", "set", "sandbox-binary", "--no-sandbox");
  const doctor = await runGw(world, "doctor");

  assert.match(wrong.complaint, /ENOENT.*nowhere\.pem/);
  assert.match(swapped.complaint, /cannot be used/);
  assert.equal(right.code, 0, right.complaint);
  assert.match(right.printed, /tls +on/);
  assert.equal((shown as { settings: { tls: boolean } }).settings.tls, true);
  assert.match(metrics, /tollgate_gate_connections_up\{gate="sandbox"\} 2/);
  assert.match(metrics, /tollgate_gate_certificate_days\{gate="sandbox"\} 36\d\d/);
  assert.match(doctor.printed, /The gate sandbox-binary uses plain TCP/);
  assert.doesNotMatch(doctor.printed, /The gate sandbox uses plain TCP/);
});
