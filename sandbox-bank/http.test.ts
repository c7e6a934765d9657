/** A port of the sandbox bank can be closed and opened again. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { Listener } from "./http.ts";

const host = "127.0.0.1";

test("a port that another program has taken is opened when it is free again", async (t) => {
  const server = createServer();
  const listener = new Listener(server, { host, port: 0 });
  await listener.open();
  const { port } = listener;
  await listener.close();
  const other = createServer();
  await once(other.listen(port, host), "listening");
  const second = new Listener(createServer(), { host, port });

  await assert.rejects(second.open(), /EADDRINUSE/);
  const isTaken = new Promise((resolve) => server.once("error", resolve));
  const opened = listener.open();
  await isTaken;
  other.close();
  await opened;
  t.after(() => listener.close());

  assert.equal(listener.port, port);
});
