/** Directory servers in operation: silent, broken, renewed, incompletely configured. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "node:tls";
import { directoryChain, makeChainFiles } from "../../../sandbox-bank/certificates/chains.ts";
import { atEnd, type Test } from "../../support/clean-up.ts";
import { readGw, runGw } from "../../support/programs.ts";
import {
  beginChallenge,
  cards,
  startPatientWorld,
  transactionIdOf,
} from "../../support/threeds.ts";
import { until, untilTrue } from "../../support/until.ts";
import type { World } from "../../support/world.ts";

test("a node starts while a directory server is silent, and knows its cards", async (t) => {
  const world = await startPatientWorld(t);
  await world.bank.setSwitches({ directoryDown: true });
  await makeDue(world);

  await world.restart();
  await world.bank.setSwitches({ directoryDown: false });

  await beginChallenge(world, cards.challenge);
});

test("a node starts without known card ranges while the directory server is silent", async (t) => {
  const world = await startPatientWorld(t);
  await world.bank.setSwitches({ directoryDown: true });
  await world.installation.database.query("delete from card_ranges");
  await makeDue(world);

  await world.restart();

  const answer = await fetch(`${world.gateway.url}/health/ready`);
  assert.equal(answer.status, 200);
});

test("a node starts although it cannot store the card ranges of a directory server", async (t) => {
  const world = await startPatientWorld(t);
  const { query } = world.installation.database;
  await query("alter table card_ranges add constraint broken check (length(first) = 1) not valid");
  await makeDue(world);

  await world.restart();

  await untilTrue("it is told", () =>
    world.logged.some((line) => line.includes("could not refresh its card ranges")),
  );
  await beginChallenge(world, cards.challenge);
});

test("missing files of a directory server are reported by every interface", async (t) => {
  const world = await startPatientWorld(t);
  const file = join(world.dataDir, "visa.key");
  await putVisa(world, file);
  assert.deepEqual(await missingIn(world), {});

  await rm(file);
  const missing = await missingIn(world);
  const listed = (await readGw(world, "directory", "list")) as { name: string; files: string }[];
  const doctor = await runGw(world, "doctor");

  assert.match(missing["directory visa"] ?? "", /visa\.key/);
  assert.match(listed.find(({ name }) => name === "visa")?.files ?? "", /visa\.key/);
  assert.equal(listed.find(({ name }) => name === "sandbox")?.files, "good");
  assert.match(doctor.printed, /trouble directory servers: sandbox, visa/);
  assert.match(doctor.printed, /Files of visa cannot be used: .*visa\.key/);
  assert.match(doctor.printed, /GW_RESULTS_URL is not set/);
  assert.match(doctor.printed, /visa has no --results-name/);
  assert.equal(doctor.code, 1);
});

test("the certificate for results is renewed by `gw directory refresh`", async (t) => {
  const files = await makeOwnFiles(t);
  const world = await startPatientWorld(t, files.settings);
  const { status } = await beginChallenge(world);
  const areq = await world.bank.waitForThreeDsMessage({
    type: "AReq",
    transactionId: transactionIdOf(status),
  });
  const port = Number(new URL(String(areq["threeDSServerURL"])).port);
  const before = await shownAt(port);

  await files.renew();
  await runGw(world, "directory", "refresh", "sandbox");
  await until("another is shown", async () =>
    (await shownAt(port)) === before ? undefined : true,
  );
  const renewed = await shownAt(port);
  await files.spoil();
  await runGw(world, "directory", "refresh", "sandbox");
  await untilTrue("it is told", () =>
    world.logged.some((line) => line.includes("directory.certificate_reload_failed")),
  );

  assert.equal(await shownAt(port), renewed);
});

/** Makes the request of the card ranges due, as if a day had passed since the last one. */
async function makeDue({ installation }: World): Promise<void> {
  await installation.database.query("update card_range_lists set due_at = 'epoch'");
}

async function missingIn({ gateway }: World): Promise<Readonly<Record<string, string>>> {
  const answer = await fetch(`${gateway.url}/health/ready`);
  return ((await answer.json()) as { missing: Record<string, string> }).missing;
}

/** Adds a directory server of an unknown authority, with a key of its own. */
async function putVisa(world: World, keyFile: string): Promise<void> {
  const pathOf = (name: string) => join(world.bank.tlsFolder, name);
  await copyFile(pathOf("gateway.key"), keyFile);
  const put = await runGw(
    world,
    ...["directory", "put", "visa", "--networks", "VISA", "--url", "https://127.0.0.1:1"],
    ...["--certificate", pathOf("gateway.pem"), "--key", keyFile],
    ...["--authority", pathOf("directory-ca.pem"), "--reference-number", "1"],
    ...["--operator-id", "1", "--requestor-id", "1", "--requestor-name", "Shop"],
    ...["--requestor-url", "https://shop.example"],
  );
  assert.equal(put.code, 0, put.complaint);
}

async function makeOwnFiles(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-results-"));
  atEnd(t, () => rm(folder, { recursive: true, force: true }));
  const [certificate, key] = [join(folder, "own.pem"), join(folder, "own.key")];
  const renew = async () => {
    const files = await makeChainFiles(directoryChain, Date.now());
    await writeFile(certificate, files.get("gateway.pem") ?? "");
    await writeFile(key, files.get("gateway.key") ?? "");
  };
  await renew();
  const settings = { GW_RESULTS_CERTIFICATE_FILE: certificate, GW_RESULTS_KEY_FILE: key };
  return { settings, renew, spoil: () => writeFile(certificate, "nothing") };
}

async function shownAt(port: number): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}
