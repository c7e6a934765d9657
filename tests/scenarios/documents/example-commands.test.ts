/**
 * A newcomer pastes the commands of the documents into a shell in their order. The commands are
 * unchanged, except for the addresses and ids of the test.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { readFences, repository, toScript } from "../../support/operator/document.ts";
import { startShell } from "../../support/programs.ts";
import { startWalletWorld, walletFields } from "../../support/wallets.ts";

const world = await startWalletWorld(endOfFile);

const guides = async () =>
  (await Promise.all(["docs/operating.md", "docs/rehearsal.md"].map(readFences))).flat();

test("operating.md, rehearsal.md: every code block says how it is run", async () => {
  const fences = await guides();
  const kinds = new Set(fences.map(({ language, mark }) => `${language} ${mark}`.trim()));
  const marked = [
    "background",
    "systemd",
    "container",
    "install",
    "root",
    "new-shell",
    "database-server",
  ];
  const known = ["sh", ...marked.map((mark) => `sh ${mark}`), "sql", "yaml"];

  assert.deepEqual(
    [...kinds].filter((kind) => !known.includes(kind)),
    [],
  );
});

test("operating.md, rehearsal.md: commands that are not run name files that exist", async () => {
  const fences = await guides();
  const named = fences
    .filter(({ mark }) => ["systemd", "container"].includes(mark))
    .flatMap(({ text }) => [...text.matchAll(/\/opt\/tollgate\/(\S+)/g)])
    .map(([, file = ""]) => join(repository, file.replace(/\*$/, "")));

  assert.deepEqual(
    named.filter((file) => !existsSync(file)),
    [],
  );
});

test("README: the sale is approved", async () => {
  const output = await paste("README.md");

  assert.match(output, /&order-stage=sale_approved&/);
});

test("wallets: the decrypted payment data that the document shows is paid with", async () => {
  const fences = await readFences("docs/wallets.md");
  const [walletb = "", walleta = ""] = fences
    .filter(({ language }) => language === "json")
    .map(({ text }) => text);
  const fresh = walletb.replace(/"\d{13}"/, `"${world.clock.now() + 3_600_000}"`);

  for (const [kind, text] of [
    ["walletb_decrypted", fresh],
    ["walleta_decrypted", walleta],
  ] as const) {
    const sale = await world.merchant().sale({ amount: "10.42", ...walletFields(kind, text) });
    await world.settle();
    assert.equal((await world.merchant().status(sale)).status, "approved", kind);
  }
});

/** Returns the output of a document's commands. */
async function paste(document: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-paste-"));
  atEnd(endOfFile, () => rm(folder, { recursive: true, force: true }));
  const { set, gateway } = world;
  const { login, controlKey } = set;
  await mkdir(join(folder, "data"));
  await writeFile(
    join(folder, "data/demo.json"),
    JSON.stringify({ merchant: { login, controlKey } }),
  );
  const script = toScript(await readFences(document), {
    "http://localhost:8080": gateway.url,
    "1001": set.endpoints["plain"] ?? "",
  });
  await writeFile(join(folder, "paste.sh"), script);
  const shell = startShell("paste.sh", folder, {});
  await shell.ended;
  await world.settle();
  assert.match(shell.output, /== done/, shell.output);
  return shell.output;
}
