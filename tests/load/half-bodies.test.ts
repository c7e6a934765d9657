/** Clients that send half of a body and wait need limited memory, and payments continue. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { startWorld } from "../support/world.ts";

const connections = 2_000;
const mebibyte = 1_048_576;
const bound = 8 * mebibyte;
const half = Buffer.alloc(mebibyte / 8, "x");

test("2,000 connections with half a body need limited memory, and payments continue", async (t) => {
  const world = await startWorld(t, { GW_UNFINISHED_BODY_BYTES_MAX: String(bound) });
  const { port } = world.gateway;
  const merchant = world.merchant();
  const head =
    `POST /gw/api/v2/sale/${merchant.set.endpoints["plain"]} HTTP/1.1\r\nhost: a\r\n` +
    "content-type: application/x-www-form-urlencoded\r\n" +
    `content-length: ${2 * half.length}\r\n\r\n`;
  const before = process.memoryUsage().arrayBuffers;
  const clients: Socket[] = [];
  for (let count = 0; count < connections; count += 1) {
    const client = connect(port, "127.0.0.1").on("error", () => undefined);
    clients.push(client);
    await once(client, "connect");
    client.write(head);
    client.write(half);
  }
  const sales = await Promise.all(Array.from({ length: 20 }, () => merchant.sale()));
  await world.settle();
  const grown = process.memoryUsage().arrayBuffers - before;
  // They end before the gateway stops, which would wait for the rest of their bodies.
  for (const client of clients) client.destroy();

  for (const sale of sales) assert.equal((await merchant.status(sale)).status, "approved");
  assert.ok(world.logged.some((line) => line.includes("too many bytes in unfinished bodies")));
  // The limit includes uncollected garbage and the clients' own buffers. Without a bound, all that
  // was sent would be in memory.
  const sent = connections * half.length;
  assert.ok(grown < sent / 2, `${Math.round(grown / mebibyte)} MiB more are held`);
});
