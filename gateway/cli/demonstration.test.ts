/** What staging makes for itself: the gates to its bank, and a merchant that grows over time. */
import assert from "node:assert/strict";
import { createPublicKey, type KeyObject } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadConfiguration } from "../storage/configuration.ts";
import { StartProblem } from "../storage/embedded.ts";
import { asEndpointId } from "../values/ids.ts";
import {
  findSandboxGates,
  makeDemonstration,
  openVault,
  putSandboxGates,
  writeDemoFile,
} from "./demonstration.ts";
import { makeDemonstrationKey } from "./demonstration-key.ts";
import { type House, openHouse } from "./house.ts";
import { refuseInProduction } from "./production.ts";

const older = { url: "http://127.0.0.1:8090", host: "127.0.0.1:8583" };
const bank = { ...older, binaryHost: "127.0.0.1:8584" };

test("the demonstration merchant of an older version gets the endpoint that it lacks", async (t) => {
  const house = await open(t);
  const before = await makeDemonstration(house, await putSandboxGates(house, older));
  assert.equal(before.endpoints["binary"], undefined);

  const gates = await putSandboxGates(house, bank);
  const grown = await makeDemonstration(house, gates);
  const again = await makeDemonstration(house, await putSandboxGates(house, bank));

  const { binary = "", ...others } = grown.endpoints;
  assert.deepEqual(others, before.endpoints);
  assert.deepEqual(again, grown);
  assert.deepEqual(await findSandboxGates(house), gates);
  const { openSecret } = await openVault(house);
  const { endpoints, groups } = await loadConfiguration(house.database.query, openSecret);
  const endpoint = endpoints.get(asEndpointId(binary));
  assert.deepEqual(
    endpoint?.gates.map(({ id, name }) => [id, name]),
    [[gates.binary, "sandbox-binary"]],
  );
  assert.equal(
    groups[0]?.endpoints.some(({ id }) => id === binary),
    false,
  );
});

test("the demonstration merchant has a key for OAuth, also when an older version had none", async (t) => {
  const house = await open(t);
  const set = await makeDemonstration(house, await putSandboxGates(house, older));
  assert.deepEqual(await acceptedKeys(house), []);

  await makeDemonstrationKey(house);
  const made = await readKey(house);
  await makeDemonstrationKey(house);
  const demoFile = await writeDemoFile(house, {
    ...{ baseUrl: older.url, set, bank: older, wallets: undefined },
  });

  const { oauth } = JSON.parse(await readFile(demoFile, "utf8"));
  assert.deepEqual(oauth, { consumerKey: "demo", privateKeyFile: "oauth-demo.pem" });
  assert.match(made, /^-----BEGIN RSA PRIVATE KEY-----/);
  assert.equal((await stat(keyFile(house))).mode & 0o777, 0o600);
  assert.equal(await readKey(house), made);
  const keys = await acceptedKeys(house);
  assert.equal(keys.length, 1);
  assert.ok(keys[0]?.equals(createPublicKey(made)));

  await rm(keyFile(house));
  await makeDemonstrationKey(house);
  assert.notEqual(await readKey(house), made);
  assert.equal((await acceptedKeys(house)).length, 2);
});

async function acceptedKeys(house: House): Promise<readonly KeyObject[]> {
  const { openSecret } = await openVault(house);
  const { merchants } = await loadConfiguration(house.database.query, openSecret);
  return merchants.flatMap(({ oauthKeys }) => oauthKeys.map(({ publicKey }) => publicKey));
}

function keyFile({ config }: House): string {
  return join(config.dataDir, "oauth-demo.pem");
}

function readKey(house: House): Promise<string> {
  return readFile(keyFile(house), "utf8");
}

test("production refuses every gate to a sandbox bank, whatever it speaks", async (t) => {
  const house = await open(t);
  await putSandboxGates(house, bank);
  const config = { ...house.config, environment: "production" as const };

  const refused = await refuseInProduction({ ...house, config });

  assert.match(refused?.sentence ?? "", /^The gate sandbox leads to a sandbox bank/m);
  assert.match(refused?.sentence ?? "", /^The gate sandbox-binary leads to a sandbox bank/m);
});

async function open(t: TestContext): Promise<House> {
  const dataDir = await mkdtemp(join(tmpdir(), "demonstration-test-"));
  // The database runs as another user when the tests are run by root.
  await chmod(dataDir, 0o711);
  const environment = { GW_DATA_DIR: dataDir };
  const house = await openHouse({ environment, report: () => undefined, besideOthers: false });
  if (house instanceof StartProblem) throw new Error(house.sentence);
  t.after(async () => {
    await house.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return house;
}
