/**
 * An operator follows `docs/operating.md` from nothing to a production gateway: every command, in
 * its order, with an external PostgreSQL that speaks TLS and the sandbox bank as the acquirer's
 * host, which demands a client certificate. At the end `gw doctor` reports nothing but what the
 * document announces.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startBank } from "@tollgate/sandbox-bank";
import { makeAuthority } from "../../support/bank/tls-line.ts";
import { atEnd } from "../../support/clean-up.ts";
import { startExternalServer } from "../../support/databases/database-pair.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { readFences, toScript, writeSqlRunner } from "../../support/operator/document.ts";
import { makeInstallation } from "../../support/operator/program-copy.ts";
import { startShell } from "../../support/programs.ts";

const path = "docs/operating.md";
/**
 * The commands for a change of the key-encryption key are included, which an operator runs later in
 * the same folder.
 */
const fences = [...(await readFences(path)), ...(await readFences("docs/keys.md"))];

test("every command of the document runs, and the sale and its return are approved", async () => {
  const folder = await makeFolder();
  const authority = await makeAuthority("Operator CA");
  const databasePort = await findFreePort();
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const identity = await authority.issue("db.example", 90);
  const server = await startExternalServer(endOfFile, databasePort, identity);
  await writeSqlRunner(folder, server.url);
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir: join(folder, "bank") });
  atEnd(endOfFile, () => bank.stop());
  await bank.setSwitches({ demandCertificate: true });
  const installation = await makeInstallation(folder);
  await mkdir(join(folder, "tls"));
  await writeFile(join(folder, "tls/database-ca.pem"), authority.ca);
  await writeFile(join(folder, "tls/ca.pem"), authority.ca);
  const own = await authority.issue("pay.example", 90);
  await writeFile(join(folder, "tls/fullchain.pem"), own.cert);
  await writeFile(join(folder, "tls/privkey.pem"), own.key, { mode: 0o600 });
  for (const [from, to] of bankFiles) {
    await copyFile(join(bank.tlsFolder, from), join(folder, "tls", to));
  }
  const script = toScript(fences, {
    "/opt/tollgate": installation,
    "/etc/tollgate": folder,
    "/var/lib/tollgate": join(folder, "state"),
    "/var/log/tollgate": join(folder, "log"),
    "db.example:5432": `localhost:${databasePort}`,
    "bank.example:8583": bank.binaryHostAddress,
    // The request has a key of its own, for which the bank has no certificate.
    "-keyout tls/bank-client.key": "-keyout tls/requested.key",
    "https://pay.example/gw": `https://localhost:${port}/gw`,
    "https://pay.example/portal": `https://localhost:${port}/portal`,
    "GW_PORT=443": `GW_PORT=${port}`,
    "GW_ADMIN_PORT=9090": `GW_ADMIN_PORT=${adminPort}`,
    "127.0.0.1:9090": `127.0.0.1:${adminPort}`,
  });
  await writeFile(join(folder, "document.sh"), script);

  const shell = startShell("document.sh", folder, {
    CURL_CA_BUNDLE: "tls/ca.pem",
  });
  atEnd(endOfFile, () => shell.stop());
  await shell.ended;

  const log = await readFile(join(folder, "log/gateway.log"), "utf8").catch(() => "");
  assert.equal(shell.child.exitCode, 0, `${shell.output}\n${log.slice(-3_000)}`);
  assert.match(shell.output, /== done/);
  assert.match(shell.output, /status=approved/);
  assert.match(shell.output, /The audit is whole/);
  const told = shell.output.match(/^(?:trouble|warning) .*(?:\n {8}.*)*/gm) ?? [];
  assert.deepEqual(
    told.filter((each) => !announced.test(each)),
    [],
  );
  assert.match(shell.output, /^good {4}backup: 0 hours ago$/m);
  if (process.getuid?.() === 0)
    assert.match(shell.output, /^good {4}installed files: .* of release /m);
  const keys = await readdir(join(folder, "keys"));
  assert.deepEqual([keys.length, keys.includes("master.key")], [2, true], keys.join());
  const checked = [...shell.output.matchAll(/^GW_MASTER_KEY_FILE +(\S+)$/gm)].map(
    ([, value]) => value,
  );
  assert.equal(new Set(checked).size, 2, "the key-encryption key is the old one");
  assert.match(await readFile(join(folder, "audit/heads.log"), "utf8"), /"signature":/);
  const booked = bank.ledger().map(({ kind, amount }) => `${kind} ${amount}`);
  assert.deepEqual(booked, ["sale 100", "reversal 100"]);
});

/** Warnings that depend on the machine, which the document announces. */
const announced = /^warning (?:memory|time synchronisation|free disk space):/;

const bankFiles = [
  ["host-ca.pem", "bank-ca.pem"],
  ["host-client.pem", "bank-client.pem"],
  ["host-client.key", "bank-client.key"],
] as const;

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-operating-"));
  await chmod(folder, 0o711);
  atEnd(endOfFile, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}
