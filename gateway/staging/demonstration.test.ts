/** Staging makes the gates to its sandbox, and a merchant that gets new endpoints over time. */

import assert from "node:assert/strict";
import { createPublicKey, type KeyObject } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { findSandboxGates } from "../administration/merchants/merchant-set.ts";
import { readConfiguration } from "../administration/session.ts";
import { refuseStart } from "../cli/environment.ts";
import { type Installation, openInstallation } from "../installation/installation.ts";
import { startEmpty } from "../storage/testing/database-for-tests.ts";
import { asEndpointId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import {
  makeDemonstration,
  makeDemonstrationKey,
  preparePortal,
  putSandboxGates,
  readDocumentValues,
  writeDemoFile,
} from "./demonstration.ts";

const older = { url: "http://127.0.0.1:8090", host: "127.0.0.1:8583" };
const sandbox = { ...older, binaryHost: "127.0.0.1:8584", iso93Host: "127.0.0.1:8585" };

test("the demonstration merchant of an older version gets the endpoint that it lacks", async (t) => {
  const installation = await open(t);
  const before = await makeDemonstration(installation, await putSandboxGates(installation, older));
  assert.equal(before.endpoints["binary"], undefined);

  const gates = await putSandboxGates(installation, sandbox);
  const grown = await makeDemonstration(installation, gates);
  const again = await makeDemonstration(installation, await putSandboxGates(installation, sandbox));

  const { binary = "", secureBinary: _, iso93 = "", secure93: __, ...others } = grown.endpoints;
  assert.deepEqual(others, before.endpoints);
  assert.deepEqual(again, grown);
  assert.deepEqual(await findSandboxGates(installation.database), gates);
  const { endpoints, groups } = await readConfiguration(installation);
  const endpoint = endpoints.get(asEndpointId(binary));
  assert.deepEqual(
    endpoint?.gates.map(({ id, name }) => [id, name]),
    [[gates.binary, "sandbox-binary"]],
  );
  const newest = endpoints.get(asEndpointId(iso93));
  assert.deepEqual(
    newest?.gates.map(({ id, name }) => [id, name]),
    [[gates.iso93, "sandbox-iso93"]],
  );
  assert.equal(
    groups[0]?.endpoints.some(({ id }) => id === binary),
    false,
  );
});

test("the demonstration merchant has a key for OAuth, also when an older version had none", async (t) => {
  const installation = await open(t);
  const set = await makeDemonstration(installation, await putSandboxGates(installation, older));
  assert.deepEqual(await acceptedKeys(installation), []);

  await makeDemonstrationKey(installation);
  const made = await readKey(installation);
  await makeDemonstrationKey(installation);
  const demoFile = await writeDemoFile(installation, {
    baseUrl: older.url,
    set,
    sandbox: older,
    wallets: undefined,
    portal: undefined,
  });

  const { oauth } = JSON.parse(await readFile(demoFile, "utf8"));
  assert.deepEqual(oauth, { consumerKey: "demo", privateKeyFile: "oauth-demo.pem" });
  // The documentation shows the file with its folder, so that pasted examples find it.
  const { KEY_FILE = "" } = await readDocumentValues(installation.config);
  assert.equal(await readFile(KEY_FILE, "utf8"), made);
  assert.match(made, /^-----BEGIN RSA PRIVATE KEY-----/);
  assert.equal((await stat(keyFile(installation))).mode & 0o777, 0o600);
  assert.equal(await readKey(installation), made);
  const keys = await acceptedKeys(installation);
  assert.equal(keys.length, 1);
  assert.ok(keys[0]?.equals(createPublicKey(made)));

  await rm(keyFile(installation));
  await makeDemonstrationKey(installation);
  assert.notEqual(await readKey(installation), made);
  assert.equal((await acceptedKeys(installation)).length, 2);
});

async function acceptedKeys(installation: Installation): Promise<readonly KeyObject[]> {
  const { merchants } = await readConfiguration(installation);
  return merchants.flatMap(({ oauthKeys }) => oauthKeys.map(({ publicKey }) => publicKey));
}

function keyFile({ config }: Installation): string {
  return join(config.dataDir, "oauth-demo.pem");
}

function readKey(installation: Installation): Promise<string> {
  return readFile(keyFile(installation), "utf8");
}

test("production refuses every gate to a sandbox, in any dialect", async (t) => {
  const installation = await open(t);
  await putSandboxGates(installation, sandbox);
  const config = { ...installation.config, environment: "production" as const };

  const refused = await refuseStart({ ...installation, config });

  assert.match(refused?.sentence ?? "", /^The gate sandbox leads to a sandbox/m);
  assert.match(refused?.sentence ?? "", /^The gate sandbox-binary leads to a sandbox/m);
});

async function open(t: TestContext): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), "demonstration-test-"));
  const { url, stop } = await startEmpty();
  const environment = { GW_DATA_DIR: dataDir, GW_DATABASE_URL: url };
  const installation = await openInstallation({
    environment,
    report: () => undefined,
    besideOthers: false,
  });
  if (installation instanceof Problem) throw new Error(installation.sentence);
  t.after(async () => {
    await installation.close();
    await stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return installation;
}

test("an operator and a merchant's user can sign in to the portal, with the same passwords after a restart, and never in production", async (t) => {
  const installation = await open(t);
  const set = await makeDemonstration(installation, await putSandboxGates(installation, older));
  const facts = { baseUrl: older.url, set, sandbox: older, wallets: undefined };

  const portal = await preparePortal(installation, "demo");
  const demoFile = await writeDemoFile(installation, { ...facts, portal });
  const written = JSON.parse(await readFile(demoFile, "utf8")).portal;

  assert.equal(written.url, `${older.url}/portal/`);
  assert.deepEqual([written.operator.login, written.merchant.login], ["operator", "merchant@demo"]);
  assert.ok(written.operator.password.length >= 12);
  assert.deepEqual(await preparePortal(installation, "demo"), portal);
  await rm(demoFile);
  const renewed = await preparePortal(installation, "demo");
  assert.notEqual(renewed?.operator.password, portal?.operator.password);

  // The merchant cannot be deleted, and without it no login is made.
  const config = { ...installation.config, environment: "production" as const };
  const refused = await refuseStart({ ...installation, config });
  assert.match(refused?.sentence ?? "", /^This database has the demonstration merchant/m);
  assert.equal(await preparePortal(installation, "another"), undefined);
});
