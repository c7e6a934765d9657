/** A merchant's developer watches callbacks on his desk. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startProgram } from "../support/programs.ts";
import { untilTrue } from "../support/until.ts";
import { startWorld } from "../support/world.ts";

test("gw callback listen prints what is told, whose it is, and answers as asked", async (t) => {
  const world = await startWorld(t);
  const gw = join(import.meta.dirname, "../../gateway/cli/gw.ts");
  const listener = startProgram([gw, "callback", "listen", "--port", "0", "--answer", "503"], {
    GW_DATABASE_URL: world.installation.databaseUrl,
    GW_DATA_DIR: world.dataDir,
  });
  t.after(() => listener.kill());
  await untilTrue("it listens", () => /Ctrl-C/.test(listener.output));
  const [, url = ""] = /server_callback_url=(\S+)/.exec(listener.output) ?? [];

  const sale = await world.merchant().sale({ server_callback_url: url });
  await world.settle();

  const { login } = world.merchant().set;
  await untilTrue("it was told", () => /^control /m.test(listener.output));
  assert.match(listener.output, new RegExp(`^GET, right control of ${login}$`, "m"));
  assert.match(listener.output, /^status +approved$/m);
  assert.match(listener.output, new RegExp(`^orderid +${sale["gw-order-id"]}$`, "m"));
  assert.match(listener.output, new RegExp(`^webhook-id +${sale["gw-order-id"]}-1$`, "m"));

  const forged = await fetch(`${url}?status=approved&orderid=1&client_orderid=%1b[31m&control=x`);
  assert.equal(forged.status, 503);
  await untilTrue("it was lied to", () => /WRONG control/.test(listener.output));
  assert.ok(!listener.output.includes("\u001b[31m"));

  assert.equal(await listener.stop(), 0);
});
