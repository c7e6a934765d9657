/** The uses of payment links are counted exactly, even at two nodes at once. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { PaymentLink } from "../../orders/payment-page.ts";
import { asEndpointId, asLinkId, asMerchantId } from "../../values/ids.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Money } from "../../values/money.ts";
import { asInstant } from "../../values/time.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeLinkStore } from "./payment-links.ts";

const tables = await startDatabase();
after(() => tables.stop());
const [here, there] = [makeLinkStore(tables.database.query), makeLinkStore(tables.database.hot)];
const now = asInstant(1_794_708_246_000);

let count = 0;

async function addLink(given: Partial<PaymentLink> = {}): Promise<PaymentLink> {
  const link: PaymentLink = {
    id: asLinkId(String(100_000_000_000_000 + ++count)),
    merchantId: asMerchantId("7"),
    endpointId: asEndpointId("31"),
    amount: new Money(1_999n, getCurrency("EUR")),
    description: "A chair — “oak”",
    createdAt: now,
    createdBy: "otto",
    uses: [],
    ...given,
  };
  assert.equal(await here.add(link), true);
  return link;
}

test("a link is found as it was added, and not by another merchant", async () => {
  const link = await addLink({
    returnUrl: "https://shop.example/done",
    callbackUrl: "https://shop.example/told",
    expiresAt: asInstant(now + 1),
    usesMax: 3,
  });

  const found = await there.find(link);

  assert.deepEqual(
    { ...found, amount: undefined },
    { ...link, amount: undefined, closedAt: undefined, channel: undefined },
  );
  assert.equal(found?.amount.minor, 1_999n);
  assert.equal(found?.amount.currency.code, "EUR");
  assert.equal(await here.find({ ...link, merchantId: asMerchantId("8") }), undefined);
  assert.equal(await here.add(link), false);
  assert.equal((await here.findById(link.id))?.merchantId, "7");
});

for (const usesMax of [1, 3]) {
  test(`of twenty pages at once at two nodes, ${usesMax} get a use`, async () => {
    const link = await addLink({ usesMax });
    const pages = Array.from({ length: 20 }, (_, at) => `page-${at}`);

    const reserved = await Promise.all(
      pages.map((page, at) => (at % 2 === 0 ? here : there).reserve(link, page, now)),
    );

    const winners = pages.filter((_, at) => reserved[at]);
    assert.equal(winners.length, usesMax);
    assert.deepEqual([...((await here.find(link))?.uses ?? [])].sort(), winners.sort());
    // A page that is posted again has its use already.
    for (const page of winners) assert.equal(await there.reserve(link, page, now), true);
    assert.equal((await here.find(link))?.uses.length, usesMax);

    await there.release(link, winners.slice(0, 1));
    assert.equal(await here.reserve(link, "late", now), true);
    assert.equal(await here.reserve(link, "later", now), false);
  });
}

test("a link without a number of uses has room for all", async () => {
  const link = await addLink();
  for (let at = 0; at < 5; at += 1) assert.equal(await here.reserve(link, `p${at}`, now), true);
});

test("nothing is reserved after a link has expired or was closed", async () => {
  const expiring = await addLink({ expiresAt: asInstant(now + 1) });
  assert.equal(await here.reserve(expiring, "in time", now), true);
  assert.equal(await here.reserve(expiring, "late", asInstant(now + 1)), false);

  const closed = await addLink();
  assert.equal(await here.close(closed, now), true);
  assert.equal(await there.close(closed, now), false);
  assert.equal(await here.reserve(closed, "page", now), false);
});

test("the latest links are listed first, of all merchants or of one", async () => {
  const [one, two] = [asMerchantId("41"), asMerchantId("42")];
  const first = await addLink({ merchantId: one, createdAt: asInstant(now + 1) });
  const second = await addLink({ merchantId: two, createdAt: asInstant(now + 2) });

  const all = await here.list({ limit: 2 });
  assert.deepEqual(
    all.map(({ id }) => id),
    [second.id, first.id],
  );
  const own = await here.list({ merchantId: one, limit: 10 });
  assert.deepEqual(
    own.map(({ id }) => id),
    [first.id],
  );
});
