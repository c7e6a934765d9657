/** What cardholders type, and cards of unusual length, decide nothing about 3-D Secure. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startWorld } from "../support/world.ts";

test("no state that a cardholder types switches 3-D Secure off", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant("secure");
  for (const state of ["A-", "-", "é", "日本", "BY"]) {
    const sale = await merchant.sale({
      ...{ credit_card_number: "4000002100000023", country: "DE", state },
    });
    await world.settle();
    const status = await merchant.status(sale);
    assert.equal(status["tds-status"], "CReqForm", state);
  }
});

test("a card that 1.0.2 has no place for goes on as one that does not take part", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant("secure");

  const sale = await merchant.sale({ credit_card_number: "400000300006" });
  await world.settle();
  const status = await merchant.status(sale);

  assert.equal(status.status, "approved");
  assert.equal(status["verified-3d-status"], "UNSUPPORTED");
});
