/** A gateway in production shows a browser no part of staging. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openContext, test } from "../support/browser/browser.ts";
import { buildSite } from "../support/browser/docs-site.ts";
import { makeFolder } from "../support/folder.ts";
import { startProcess } from "../support/gateway-process.ts";
import { findFreePort } from "../support/operator/examples.ts";

test("production has no page at / and no explorer", async (t) => {
  const keyFile = join(await makeFolder(t), "master.key");
  await writeFile(keyFile, "7".repeat(64), { mode: 0o600 });
  const port = await findFreePort();
  await buildSite();
  await startProcess(t, {
    env: {
      GW_ENV: "production",
      GW_BASE_URL: "https://pay.example.com",
      GW_MASTER_KEY_FILE: keyFile,
      GW_PORT: port,
      GW_ALLOW: "local-audit",
    },
  });
  const address = `http://127.0.0.1:${port}`;

  const page = await fetch(`${address}/`);

  assert.equal(page.status, 404);
  const values = await fetch(`${address}/docs/demonstration.json`);
  const start = await (await fetch(`${address}/docs/quick-start`)).text();
  assert.equal(values.status, 404);
  assert.match(start, /export GATEWAY=https:\/\/pay\.example\.com\n/);
  assert.match(start, /export CONTROL_KEY=YOUR-CONTROL-KEY\n/);
  const explorer = await (await openContext()).newPage();
  await explorer.goto(`http://localhost:${port}/docs/explorer`);
  await explorer.getByText("This gateway is in production: no explorer here.").waitFor();
  assert.equal(await explorer.locator("#api-explorer form").count(), 0);
});
