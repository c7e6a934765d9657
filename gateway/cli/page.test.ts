/** Tests `gw page watch` over HTTP, through a proxy that changes the page. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { servePage } from "../pages/payment/testing.ts";
import { watchPage } from "./page.ts";

const expected = { embedOrigins: [], walletMethods: [], otherHeaders: [] };

test("a page that passes unchanged has no fault", async (t) => {
  const url = await startProxy(t, (_, body) => body);

  const { files, faults } = await watchPage(url, expected);

  assert.deepEqual(faults, []);
  assert.match(files.join(" "), /^style\.\w{16}\.css pay\.\w{16}\.js$/);
});

test("a changed script is a fault also where the page names the right digest", async (t) => {
  const url = await startProxy(t, (path, body) =>
    path.endsWith(".js") ? `${body};steal()` : body,
  );

  const { faults } = await watchPage(url, expected);

  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? "", /^pay\.\w{16}\.js has another content\.$/);
});

test("an injected script is a fault", async (t) => {
  const url = await startProxy(t, (_, body) =>
    body.replace("</body>", '<script src="https://evil.example/a.js"></script></body>'),
  );

  const { faults } = await watchPage(url, expected);

  assert.match(faults.join("\n"), /^The page has <script src="https:\/\/evil\.example/);
});

test("gw page watch runs without an installation, and alerts by lines and exit code", async (t) => {
  const good = await runWatch(await startProxy(t, (_, body) => body));
  const changed = await runWatch(
    await startProxy(t, (_, body) => body.replace("</form>", "</form><base href=/><hr>")),
  );

  assert.deepEqual({ ...good, printed: "" }, { code: 0, printed: "", complaint: "" });
  assert.match(good.printed, /^faults\s+0$/m);
  assert.equal(changed.code, 1);
  assert.deepEqual(changed.printed.trim().split("\n"), [
    "The page has <base href=/>, which is not in the inventory.",
    "The page has <hr>, which is not in the inventory.",
  ]);
  assert.equal((await runWatch(new URL("http://127.0.0.1:1/pay/t0ken"))).code, 2);
});

/** Runs the command without any setting, in a folder without files. */
async function runWatch(url: URL) {
  const words = [join(import.meta.dirname, "gw.ts"), "page", "watch", url.href];
  const folder = mkdtempSync(join(tmpdir(), "page-watch-"));
  try {
    const program = spawn(process.execPath, words, { cwd: folder, env: {} });
    const [printed, complaint, [code]] = await Promise.all([
      text(program.stdout),
      text(program.stderr),
      once(program, "close"),
    ]);
    assert.deepEqual(readdirSync(folder), []);
    return { code, printed, complaint };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Change = (path: string, body: string) => string;

async function startProxy(t: TestContext, change: Change): Promise<URL> {
  const { server: page } = servePage(t);
  const proxy = createServer(async ({ url = "" }, response) => {
    const { statusCode, headers, body } = await page.inject(url);
    const { "content-length": _, "transfer-encoding": __, ...others } = headers;
    response.writeHead(statusCode, others).end(change(url, body));
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy.close());
  // A server that listens on a port has this type of address.
  const { port } = proxy.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/pay/t0ken`);
}
