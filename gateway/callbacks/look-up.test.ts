/** Names asked of a name server of the test's own: both kinds of addresses, and refusals. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { makeResolve, type Resolve } from "./look-up.ts";

const typeA = 1;
const noSuchName = 3;

test("a name's addresses of both kinds are found", async (t) => {
  const resolve = await makeResolveAt(t, { "shop.example": { v4: [8, 8, 4, 4], v6: true } });

  const found = await ask(resolve, "shop.example");
  assert.deepEqual(found.map(({ address }) => address).sort(), ["2606:4700::1", "8.8.4.4"]);
  assert.deepEqual(found.map(({ family }) => family).sort(), [4, 6]);
});

test("a name with one kind only is found, and one with none is not", async (t) => {
  const resolve = await makeResolveAt(t, { "shop.example": { v4: [8, 8, 4, 4], v6: false } });

  const found = await ask(resolve, "shop.example");
  assert.deepEqual(found, [{ address: "8.8.4.4", family: 4 }]);
  await assert.rejects(ask(resolve, "nobody.example"), /ENOTFOUND/);
});

test("a name that the operator allows is looked up as this machine does it", async (t) => {
  const resolve = await makeResolveAt(t, {});

  const found = await ask(resolve, "localhost");
  assert.ok(found.some(({ address }) => address === "127.0.0.1" || address === "::1"));
});

function ask(resolve: Resolve, hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((found, failed) => {
    resolve(hostname, (error, addresses) => (error === null ? found(addresses) : failed(error)));
  });
}

type Zone = Readonly<Record<string, { readonly v4: readonly number[]; readonly v6: boolean }>>;

/** It answers questions with one name, as every resolver sends them. */
async function makeResolveAt(t: TestContext, zone: Zone): Promise<Resolve> {
  const server = createSocket("udp4");
  server.on("message", (question, { port, address }) => {
    server.send(answerTo(question, zone), port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const servers = [`127.0.0.1:${server.address().port}`];
  return makeResolve((hostname) => hostname === "localhost", servers);
}

function answerTo(question: Buffer, zone: Zone): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += 1 + length;
  }
  const asked = question.subarray(12, at + 5);
  const known = zone[labels.join(".").toLowerCase()];
  const addresses = known === undefined ? [] : addressesOf(known, question.readUInt16BE(at + 1));
  const head = Buffer.alloc(12);
  question.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 + (known === undefined ? noSuchName : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  return Buffer.concat([head, asked, ...addresses]);
}

/** The name is said by pointing to the question; class internet, for a minute. */
function addressesOf({ v4, v6 }: Zone[string], type: number): readonly Buffer[] {
  const six = Buffer.from("26064700000000000000000000000001", "hex");
  const bytes = type === typeA ? Buffer.from(v4) : v6 ? six : undefined;
  if (bytes === undefined) return [];
  const fixed = Buffer.from("c00c000000010000003c0000", "hex");
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(bytes.length, 10);
  return [Buffer.concat([fixed, bytes])];
}
