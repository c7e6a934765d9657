/**
 * Recorded EMV 3DS answers of three networks, sent by a directory server of the test to real
 * authentication requests with only the transaction id replaced. The order goes to the host, waits
 * for its challenge or ends, and carries only proof from the answer.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { atEnd, type Test } from "../support/clean-up.ts";
import {
  beginWith,
  proofAtHost,
  startPatientWorld,
  statusOf,
  uploadMethod,
} from "../support/threeds.ts";
import type { World } from "../support/world.ts";

type Recorded = {
  readonly messageVersion: string;
  readonly transStatus: string;
  readonly eci?: string;
  readonly authenticationValue?: string;
  readonly acsURL?: string;
};
type Listed = {
  readonly file: string;
  readonly messageType: string;
  readonly verdict: "good" | "defective" | "unsure";
};

const folder = join(import.meta.dirname, "../../protocols/emv3ds/vectors");
const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
const { messages }: { readonly messages: readonly Listed[] } = read("index.json");
const answers = messages.filter(({ messageType }) => messageType === "ARes");

/** Cards in a range of each version. The later one has no method step. */
const cards: Readonly<Record<string, string>> = {
  "2.1.0": "4000002200000014",
  "2.2.0": "4000002100000015",
};

/** Results at an endpoint that authenticates if possible; I answers another kind of request. */
// biome-ignore format: a table
const stages: Readonly<Record<string, string>> = {
  Y: "sale_approved", A: "sale_approved", U: "sale_approved", I: "sale_approved",
  N: "sale_declined", R: "sale_declined", C: "sale_3d_validating",
};

test("recorded answers decide real authentications", async (t) => {
  const world = await startPatientWorld(t);
  const directory = await startDirectory(t, world);
  assert.ok(answers.length > 30);

  for (const { file, verdict } of answers) {
    await t.test(`${file}, ${verdict}`, async () => {
      const recorded: Recorded = read(file);
      directory.answer(recorded);

      const pending = await beginWith(world, cards[recorded.messageVersion] ?? "");
      const first = await statusOf(pending);
      const hasMethod = first["tds-status"] === "MethodUrlFrame";
      const status = hasMethod ? await uploadMethod(pending) : first;

      const { transStatus, authenticationValue } = recorded;
      const isAuthenticated = transStatus === "Y" || transStatus === "A";
      if (verdict === "good") assert.equal(status["order-stage"], stageOf(recorded));
      if (!isAuthenticated) assert.notEqual(status["verified-3d-status"], "AUTHENTICATED");
      if (transStatus === "C" && stageOf(recorded) === "sale_3d_validating") {
        assert.equal(status["tds-creq-form-acs-url"], recorded.acsURL);
      }
      const proof = await proofAtHost(world, status);
      const isProved = isAuthenticated && proof !== undefined;
      if (verdict === "good") {
        assert.equal(proof?.value, isProved ? authenticationValue : undefined);
      } else if (!isAuthenticated) {
        assert.equal(proof?.value, undefined);
      }
      assert.equal(directory.asked(), recorded.messageVersion);
    });
  }

  const [genuine = assert.fail()] = answers
    .filter(({ verdict }) => verdict === "good")
    .map(({ file }): Recorded => read(file))
    .filter(({ transStatus, messageVersion }) => transStatus === "Y" && messageVersion === "2.2.0");
  for (const eci of ["0\u0000", "\u0000\u0000", "0\n", "\u001b[", "\u00e95", "\ud83d\ude00"]) {
    await t.test(`an ECI of ${JSON.stringify(eci)} proves nothing, and ends no order`, async () => {
      directory.answer({ ...genuine, eci });

      const status = await statusOf(await beginWith(world, cards["2.2.0"] ?? ""));

      assert.equal(status["order-stage"], "sale_approved");
      assert.notEqual(status["verified-3d-status"], "AUTHENTICATED");
      // The ECI 07 means that the cardholder was not authenticated.
      assert.deepEqual(await proofAtHost(world, status), { eci: "07", value: undefined });
      assert.ok(!JSON.stringify(status).includes(JSON.stringify(eci).slice(1, -1)));
    });
  }
});

/**
 * Returns the stage. A challenge without an address is for an app, and a browser cannot take it.
 */
function stageOf({ transStatus, acsURL }: Recorded): string | undefined {
  return transStatus === "C" && acsURL === undefined ? "sale_approved" : stages[transStatus];
}

/** Starts a directory server that replaces the bank's, with its certificate. */
async function startDirectory(t: Test, world: World) {
  const tls = join(world.dataDir, "bank", "tls");
  const readPem = (name: string) => readFileSync(join(tls, name), "utf8");
  let recorded: object = {};
  let version = "";
  const server = createServer(
    { cert: readPem("directory.pem"), key: readPem("directory.key") },
    async (request, response) => {
      const { threeDSServerTransID, messageVersion } = JSON.parse(await text(request));
      version = messageVersion;
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.end(JSON.stringify({ ...recorded, threeDSServerTransID }));
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(t, () => server.close().closeAllConnections());
  const address = server.address();
  const url = new URL(`${world.bank.directoryUrl}/emv3ds`);
  url.port = String(typeof address === "object" ? address?.port : "");
  await world.installation.database.query(
    "update directory_servers set settings = (settings::jsonb || $1::jsonb)::json",
    [JSON.stringify({ url: url.href })],
  );
  await world.restart();

  return {
    answer(next: object) {
      recorded = next;
    },
    asked: () => version,
  };
}
