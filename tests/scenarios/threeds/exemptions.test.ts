/**
 * Exemptions from authentication and wishes for a challenge: where they travel, and what follows
 * when the issuer does not accept them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { passChallenge } from "../../support/cardholder.ts";
import type { Test } from "../../support/clean-up.ts";
import { assertRefused } from "../../support/expect.ts";
import {
  beginChallenge,
  beginWith,
  cards,
  chargesAt,
  standingOf,
  startPatientWorld,
  statusOf,
} from "../../support/threeds.ts";
import type { World } from "../../support/world.ts";

const scaOrExemption = "4000004000000277";
const low = { sca_exemption: "low_value" };

async function startExemptWorld(t: Test, settings: object = {}): Promise<World> {
  const world = await startPatientWorld(t);
  await world.changeEndpoint("secure", { exemptions: true, ...settings });
  return world;
}

/** Returns the indicators of all requests for authentication. */
function indicatorsIn({ bank }: World): readonly unknown[] {
  const requests = bank.threeDsMessages().filter(({ type }) => type === "AReq");
  return requests.map(({ fields }) => fields["threeDSRequestorChallengeInd"]);
}

/** Returns sub-element 22 of each charge at the host. */
function exemptionsIn({ bank }: World): readonly (string | undefined)[] {
  const charges = bank.messages().filter(({ mti }) => mti === "0200");
  return charges.map(({ fields }) => / 22=(\S+)/.exec(fields["48"] ?? "")?.[1]);
}

test("an exemption travels in the charge, without an authentication before it", async (t) => {
  const world = await startExemptWorld(t);

  const pending = await beginWith(world, scaOrExemption, { fields: low });

  const status = await statusOf(pending);
  assert.deepEqual(standingOf(status), ["sale_approved", undefined, undefined, undefined]);
  assert.equal(status["sca-exemption"], "low_value");
  assert.deepEqual([indicatorsIn(world), exemptionsIn(world)], [[], ["010204"]]);
});

test("an issuer that refuses the exemption gets an authentication, once", async (t) => {
  const world = await startExemptWorld(t);
  const pending = await beginChallenge(world, cards.scaRequired, { fields: low });
  const between = await statusOf(pending);

  const { cres } = await passChallenge(pending.status);
  await pending.merchant.uploadCres(pending.order, cres);
  await world.settle();

  const status = await statusOf(pending);
  assert.deepEqual(standingOf(status), ["sale_approved", undefined, "AUTHENTICATED", "05"]);
  assert.deepEqual([between["sca-exemption"], status["sca-exemption"]], [undefined, undefined]);
  assert.deepEqual([indicatorsIn(world), exemptionsIn(world)], [["04"], ["010204", undefined]]);
});

test("an exemption without a place in the charge travels in the authentication", async (t) => {
  const world = await startExemptWorld(t);
  const trust = { sca_exemption: "trusted_beneficiary" };
  await beginWith(world, cards.frictionlessNoMethod, { fields: trust });
  await world.placeGates("secure", [["sandbox-binary", 1, 1]]);
  const pending = await beginWith(world, cards.frictionlessNoMethod, {
    fields: { sca_exemption: "tra" },
  });

  assert.equal((await statusOf(pending))["verified-3d-status"], "AUTHENTICATED");
  assert.deepEqual(indicatorsIn(world), ["08", "05"]);
});

test("an endpoint that always authenticates lets an exemption only ask for no challenge", async (t) => {
  const world = await startExemptWorld(t, { threeDSecure: "always" });

  const pending = await beginWith(world, cards.frictionlessNoMethod, { fields: low });

  assert.equal((await statusOf(pending))["verified-3d-status"], "AUTHENTICATED");
  assert.deepEqual([indicatorsIn(world), exemptionsIn(world)], [["02"], [undefined]]);
});

test("an endpoint without exemptions refuses one, and takes wishes", async (t) => {
  const world = await startPatientWorld(t);
  const merchant = world.merchant("secure");
  const sentence = /sca_exemption: the endpoint does not accept it/;
  await assertRefused(merchant.sale(low), 13, sentence);

  const wish = { three_ds_preference: "challenge_mandated" };
  const pending = await beginChallenge(world, cards.frictionlessNoMethod, { fields: wish });

  assert.equal(pending.status["tds-status"], "CReqForm");
  assert.equal(chargesAt(world), 0);
  assert.deepEqual(indicatorsIn(world), ["04"]);
});
