/** The issuer's answers to an AReq: every row of the catalogue that is enrolled in 2.x. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  type Emv3dsMessage,
  type ProtocolVersion,
  protocolVersions,
} from "@tollgate/protocols/emv3ds";
import { AuthenticationValues } from "../issuer.ts";
import { scenarios } from "../scenarios.ts";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { makeAReq } from "../testing/requests.ts";
import { startThreeDsServer } from "../testing/threeds-server.ts";

const bank = await startTestBank({ after });
const server = await startThreeDsServer({ after }, bank);
const issuer = await AuthenticationValues.open(join(bank.dataDir, "bank", "cavv.key"));

function versionOf(group: string): ProtocolVersion {
  return protocolVersions.find((version) => group.includes(version)) ?? "2.2.0";
}

/** The expected status with its ECI or reason, or the expected error. */
// biome-ignore format: a table
const answers: Readonly<Record<string, readonly [answer: string, detail: unknown]>> = {
  "attempt":             ["A",    "06"],
  "not-authenticated":   ["N",    "01"],
  "rejected":            ["R",    "11"],
  "unavailable":         ["U",    "22"],
  "directory-error":     ["Erro", "405"],
  "mastercard":          ["Y",    "02"],
  "mastercard-2-series": ["Y",    "02"],
  "maestro":             ["Y",    "02"],
  "mir":                 ["Y",    "02"],
};

const elsewhere = ["3-D Secure 1.0.2", "Not enrolled anywhere"];
const rows = scenarios.filter(({ group, name }) => {
  const isElsewhere = elsewhere.includes(group) || name === "mastercard-v1";
  return !isElsewhere && name !== "directory-timeout";
});

for (const { name, card, group } of rows) {
  const isChallenge = /^(mastercard-)?(challenge|result)/.test(name);
  const [answer, detail] = answers[name] ?? (isChallenge ? ["C", undefined] : ["Y", "05"]);

  test(`${name} is answered ${answer}`, async () => {
    const areq = makeAReq(card, server.resultUrl, versionOf(group));
    const ares = await server.ask(areq);

    assert.equal(ares["transStatus"] ?? ares.messageType, answer);
    assert.equal(ares["eci"] ?? ares["transStatusReason"] ?? ares["errorCode"], detail);
    assert.equal(ares["threeDSServerTransID"], areq["threeDSServerTransID"]);
    assert.equal(ares.messageVersion, areq.messageVersion);
    const isProved = answer === "Y" || answer === "A";
    assert.equal(isProved, issuer.isGenuine(card, String(ares["authenticationValue"])));
    const expected = answer === "C" ? `${bank.url}/acs/challenge` : undefined;
    assert.equal(ares["acsURL"], expected);
  });
}

test("directory-timeout is never answered", async () => {
  const card = "4000002000000115";
  const areq = makeAReq(card, server.resultUrl);
  const given = new AbortController();
  const asked = server.post("/emv3ds", JSON.stringify(areq), { signal: given.signal });
  const lost = assert.rejects(asked, { name: "AbortError" });

  const transactionId = String(areq["threeDSServerTransID"]);
  const received = await bank.waitForThreeDsMessage({ type: "AReq", transactionId });
  // A later request is answered, so this one is not merely slow.
  await server.ask(makeAReq("4000002000000016", server.resultUrl));

  assert.equal(received["acctNumber"], "400000****0115");
  assert.equal(bank.threeDsMessages(transactionId).length, 1);
  given.abort();
  await lost;
});

test("a card that is not in the catalogue is authenticated without a challenge", async () => {
  for (const card of ["4222222222222", "4111111111111111", "6799998900000060018"]) {
    const ares = await server.ask(makeAReq(card, server.resultUrl));
    assert.equal(ares["transStatus"], "Y", card);
  }
});

test("a mandate makes every card that would be authenticated show a challenge", async () => {
  const ask = async (card: string, version: ProtocolVersion, wish: unknown) => {
    const more = { threeDSRequestorChallengeInd: wish };
    return (await server.ask(makeAReq(card, server.resultUrl, version, more)))["transStatus"];
  };
  assert.equal(await ask("4000002000000016", "2.2.0", "04"), "C");
  assert.equal(await ask("4111111111111111", "2.2.0", "04"), "C");
  assert.equal(await ask("4000004000000111", "2.2.0", "04"), "C");
  assert.equal(await ask("4000002200000014", "2.1.0", "04"), "C");
  assert.equal(await ask("4000002300000013", "2.3.1", ["13"]), "C");
  assert.equal(await ask("4000002300000013", "2.3.1", ["01", "04"]), "C");
  for (const wish of ["01", "02", "03"]) {
    assert.equal(await ask("4000002000000016", "2.2.0", wish), "Y", wish);
  }
  assert.equal(await ask("4000002000000073", "2.2.0", "04"), "N");
});

test("a payment without the cardholder is never challenged", async () => {
  const { deviceChannel, threeDSCompInd, notificationURL, ...rest } = makeAReq(
    "4000002000000024",
    server.resultUrl,
  );
  const kept = Object.entries(rest).filter(
    ([name]) => !name.startsWith("browser") && name !== "threeDSRequestorAuthenticationInd",
  );
  const areq = { ...Object.fromEntries(kept), deviceChannel: "03", threeRIInd: "11" };

  const ares: Emv3dsMessage = await server.ask(areq);

  assert.deepEqual([ares["transStatus"], ares["transStatusReason"]], ["U", "21"]);
});
