/** Tokens with any changed byte: none is ever accepted, and the gateway does not fail. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { saleFields } from "../../support/merchant.ts";
import { seed, series } from "../../support/series.ts";
import { chargesAt } from "../../support/threeds.ts";
import {
  joinWalletWorld,
  mintA,
  mintB,
  paid,
  textOf,
  type WalletKind,
  walletFields,
  walletKinds,
} from "../../support/wallets.ts";
import { post, signedSale } from "../../support/wire.ts";
import type { World } from "../../support/world.ts";

/** The position in the text and the change there, so that all positions are equally frequent. */
const changes = fc.record({
  at: fc.noBias(fc.nat(1_000_000_000)),
  change: fc.oneof(
    fc.integer({ min: 1, max: 255 }).map((mask) => ({ kind: "change", mask }) as const),
    fc.integer({ min: 0, max: 7 }).map((bit) => ({ kind: "change", mask: 1 << bit }) as const),
    fc.integer({ min: 1, max: 4 }).map((count) => ({ kind: "drop", count }) as const),
    fc.integer({ min: 0, max: 255 }).map((byte) => ({ kind: "insert", byte }) as const),
  ),
});
type Change = typeof changes extends fc.Arbitrary<infer Value> ? Value : never;

const mints = { walleta_encrypted: mintA, walletb_encrypted: mintB } as const;

for (const kind of ["walleta_encrypted", "walletb_encrypted"] as const) {
  test(`no changed ${kind} token is paid with (TOLLGATE_SEED=${seed})`, async (t) => {
    const world = await joinWalletWorld(t);
    const token = await mints[kind](world);
    const property = fc.asyncProperty(changes, async (change) => {
      const changed = changeText(token, change);
      fc.pre(!isSameToken(changed.toString(), token));

      await assertNotPaid(world, kind, changed);
    });
    await fc.assert(property, { seed, numRuns: series(40, 5_000), endOnFailure: true });

    assert.equal(chargesAt(world), 0);
    // No changed token has used up the genuine one.
    assert.equal((await paid(world, kind, token)).status, "approved");
    assert.ok(!world.logged.some((line) => JSON.parse(line).level >= 50), "an error was logged");
  });
}

test(`random JSON as payment data is never paid with (TOLLGATE_SEED=${seed})`, async (t) => {
  const world = await joinWalletWorld(t);
  const texts = fc.oneof(
    fc.json({ maxDepth: 6 }),
    fc.string().map((each) => JSON.stringify(each)),
  );
  const property = fc.asyncProperty(fc.constantFrom(...walletKinds), texts, (kind, text) =>
    assertNotPaid(world, kind, Buffer.from(text)),
  );
  await fc.assert(property, { seed, numRuns: series(30, 4_000), endOnFailure: true });

  assert.equal(chargesAt(world), 0);
});

test(`a payload with a random member never makes the gateway fail (${seed})`, async (t) => {
  const world = await joinWalletWorld(t);
  const kinds = fc.constantFrom("walleta_decrypted" as const, "walletb_decrypted" as const);
  const property = fc.asyncProperty(kinds, fc.nat(), fc.jsonValue(), async (kind, nth, value) => {
    const payload = JSON.parse(await textOf(world, kind));
    const names = Object.keys(payload);
    const name = names[nth % names.length] ?? "";
    const sent = Buffer.from(JSON.stringify({ ...payload, [name]: value }));

    const told = await tell(world, kind, sent);
    if (told.status !== "approved") assert.match(told.code, /^3\d{3}$/, `${kind} ${name}`);
    // Only optional fields may have any value.
    else assert.match(name, /^(deviceManufacturerIdentifier|messageId)$/, `${kind} ${name}`);
  });
  await fc.assert(property, { seed, numRuns: series(30, 4_000), endOnFailure: true });
});

function changeText(token: string, { at, change }: Change): Buffer {
  const bytes = Buffer.from(token);
  const place = at % bytes.length;
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
  if (change.kind === "insert") return Buffer.concat([before, Buffer.of(change.byte), after]);
  if (change.kind === "drop") return Buffer.concat([before, after.subarray(change.count)]);
  const mine = Buffer.from(after);
  mine[0] = (mine[0] ?? 0) ^ change.mask;
  return Buffer.concat([before, mine]);
}

/**
 * Whether two tokens mean the same: white space around members and the case of a hex id do not
 * count.
 */
function isSameToken(changed: string, token: string): boolean {
  const plain = (text: string) => {
    try {
      const fields = JSON.parse(text);
      const id = fields?.header?.transactionId;
      if (typeof id === "string") fields.header.transactionId = id.toLowerCase();
      return JSON.stringify(fields);
    } catch {
      return undefined;
    }
  };
  return plain(changed) === plain(token);
}

async function assertNotPaid(world: World, kind: WalletKind, sent: Buffer): Promise<void> {
  const { status, code } = await tell(world, kind, sent);
  assert.ok(status === "refused" || status === "declined", `${kind}: ${status} ${code}`);
  assert.match(code, status === "refused" ? /^[45]$/ : /^3\d{3}$/);
}

/** Returns the result: the refusal, or the end of the order. */
async function tell(world: World, kind: WalletKind, sent: Buffer) {
  const endpoint = world.set.endpoints["plain"] ?? "";
  const fields = saleFields({
    ...walletFields(kind, ""),
    payment_data: sent.toString("base64"),
  });
  const body = signedSale(world, endpoint, fields);
  const reply = await post(world, `/gw/api/v2/sale/${endpoint}`, body);
  assert.equal(reply.status, 200, reply.text);
  const answer = new URLSearchParams(reply.text);
  if (answer.get("type") === "validation-error") {
    return { status: "refused", code: answer.get("error-code") ?? "" };
  }
  await world.settle();
  const status = await world.merchant().status({ "merchant-order-id": fields.client_orderid });
  return { status: status.status ?? "", code: status["error-code"] ?? "" };
}
