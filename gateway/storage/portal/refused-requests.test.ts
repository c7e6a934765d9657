/** Refused requests in a cell: how many of a merchant are kept, and for how long. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { RefusedRow } from "../../merchant-api/refused-requests.ts";
import { asMerchantId, asSerialNumber } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import {
  countDropped,
  deleteOldRefused,
  eraseRefused,
  findRefusal,
  findRefused,
  keepRefused,
} from "./refused-requests.ts";

const server = await startDatabase();
after(() => server.stop());
const { query } = server.database;
const [own, other] = [asMerchantId("7"), asMerchantId("8")];
const start = 1_700_000_000_000;
const options = { countMax: 3, now: asInstant(start) };
const none = new Map();

function refusal(n: number, changed: Partial<RefusedRow> = {}): RefusedRow {
  const serial = `0195933a-7c48-7000-8000-${String(n).padStart(12, "0")}`;
  return {
    merchantId: own,
    serialNumber: asSerialNumber(serial),
    at: asInstant(start + n),
    entryId: "1001",
    operation: "sale",
    version: "v2",
    code: "control_mismatch",
    authenticated: false,
    from: "203.0.113.7",
    clientOrderId: `order-${n}`,
    document: { fields: [{ name: "email", value: "Ann@example.com", length: 15 }], faults: [] },
    ...changed,
  };
}

const everything = {
  merchantId: undefined,
  search: undefined,
  operation: undefined,
  code: undefined,
  endpoint: undefined,
  from: undefined,
  until: undefined,
  after: undefined,
  limit: 50,
};
const kept = async (asked: Partial<Parameters<typeof findRefused>[1]> = {}) =>
  (await findRefused(query, { ...everything, ...asked }, 1_000)).rows.map(
    ({ clientOrderId }) => clientOrderId,
  );

test("the latest requests of each merchant are kept, and no flood removes signed ones", async () => {
  const signed = [1, 2].map((n) => refusal(n, { authenticated: true }));
  const flood = [3, 4, 5, 6, 7, 8].map((n) => refusal(n));

  await keepRefused(
    query,
    { rows: [...signed, refusal(9, { merchantId: other })], dropped: none },
    options,
  );
  await keepRefused(query, { rows: flood, dropped: new Map([[own, 40]]) }, options);
  await keepRefused(query, { rows: [], dropped: new Map([[own, 2]]) }, options);

  const latest = ["order-9", "order-8", "order-7", "order-6", "order-2", "order-1"];
  assert.deepEqual(await kept(), latest);
  assert.deepEqual(await kept({ merchantId: other }), ["order-9"]);
  const [now, later] = [options.now, asInstant(start + 8 * 86_400_000)];
  assert.equal(await countDropped(query, own, now), 42);
  assert.equal(await countDropped(query, undefined, now), 42);
  assert.equal(await countDropped(query, other, now), 0);
  assert.equal(await countDropped(query, own, later), 0);
});

test("a request is found by its serial number, by its merchant and the operator", async () => {
  const { serialNumber } = refusal(8);

  assert.equal((await findRefusal(query, serialNumber, own))?.document.fields.length, 1);
  assert.equal((await findRefusal(query, serialNumber, undefined))?.clientOrderId, "order-8");
  assert.equal(await findRefusal(query, serialNumber, other), undefined);
});

test("pages and filters", async () => {
  const after = { at: start + 7, serial: refusal(7).serialNumber };

  assert.deepEqual(await kept({ after, limit: 2 }), ["order-6", "order-2"]);
  assert.deepEqual(await kept({ search: "order-7" }), ["order-7"]);
  assert.deepEqual(await kept({ search: refusal(6).serialNumber.toUpperCase() }), ["order-6"]);
  assert.deepEqual(await kept({ endpoint: ["9"] }), []);
  assert.deepEqual(await kept({ from: start + 2, until: start + 7 }), ["order-6", "order-2"]);
});

test("a batch that is written again changes nothing", async () => {
  await keepRefused(query, { rows: [refusal(8)], dropped: none }, options);

  assert.equal((await kept({ search: "order-8" })).length, 1);
});

test("old requests are deleted, and so are those of a person", async () => {
  await deleteOldRefused(query, asInstant(start + 8));
  assert.deepEqual(await kept(), ["order-9", "order-8"]);

  assert.equal(await eraseRefused(query, ["other@example.com", "ann@example.com"]), 2);
  assert.deepEqual(await kept(), []);
});
