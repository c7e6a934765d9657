/** Cryptograms that no bank can be sent are refused at once, and leave nothing used up. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testOnEachDialect } from "../support/dialects.ts";
import { chargesAt } from "../support/threeds.ts";
import {
  assertWalletRefused,
  chargeAtHost,
  paid,
  payloadOf,
  startWalletWorld,
} from "../support/wallets.ts";
import type { World } from "../support/world.ts";

const kinds = ["walleta_decrypted", "walletb_decrypted"] as const;

testOnEachDialect("a cryptogram of another length is refused", async (t, { through }) => {
  const world = await startWalletWorld(t);
  for (const kind of kinds) {
    for (const length of [1, 19, 21, 28, 40, 60, 75]) {
      const text = withCryptogram(world, kind, randomBytes(length).toString("base64"));
      const status = await paid(world, kind, text, { through });

      assertWalletRefused(status, 3011, `${kind} ${length}`);
      const message = "WALLET_DATA_NOT_SUPPORTED: a cryptogram that is not 20 bytes";
      assert.equal(status["error-message"], message);
    }
  }
  assert.equal(chargesAt(world), 0);
  const { query } = world.installation.database;
  assert.equal((await query("select from wallet_messages")).length, 0, "nothing is used up");
});

test("a cryptogram in another spelling than base64's own is refused", async (t) => {
  const world = await startWalletWorld(t);
  const own = randomBytes(20).toString("base64");
  const spare = `${own.slice(0, -2)}${next(own)}=`;
  for (const kind of kinds) {
    for (const spelling of [own.slice(0, -1), spare, `${own.slice(0, 8)}-_${own.slice(10)}`]) {
      const status = await paid(world, kind, withCryptogram(world, kind, spelling));
      assertWalletRefused(status, 3000, kind);
      assert.match(status["error-message"] ?? "", /ryptogram: missing, or not of its form$/);
    }
    const fine = await paid(world, kind, withCryptogram(world, kind, own));
    assert.equal((await chargeAtHost(world, fine)).authenticationValue, own, kind);
  }
});

/** The last letter with its spare bits set: the same bytes to a lenient reader. */
function next(text: string): string {
  return String.fromCharCode((text.at(-2) ?? "A").charCodeAt(0) + 1);
}

function withCryptogram(world: World, kind: (typeof kinds)[number], cryptogram: string): string {
  const text = JSON.stringify(payloadOf(world, kind));
  return text.replace(/(ryptogram":")[^"]+/, (_, name) => name + cryptogram);
}
