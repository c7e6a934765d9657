/** A flood of refused requests does not remove those that merchants have signed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { asMerchantId, asSerialNumber } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import type { CalledParts } from "./operation.ts";
import { sale } from "./operations/payments.ts";
import { makeRefusedRequests, type RefusedRow } from "./refused-requests.ts";
import { entryPoint } from "./testing.ts";

const serialNumber = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
const at = asInstant(1);

function open() {
  const rows: RefusedRow[] = [];
  const refused = makeRefusedRequests({
    clock: { now: () => at },
    describe: () => ({ fields: [], faults: [] }),
    store: { write: async (batch) => void rows.push(...batch.rows), deleteOld: async () => [] },
    keepsAny: true,
    keepDays: 30,
    onDropped: () => undefined,
    onFailed: (_, error) => assert.fail(String(error)),
  });
  const send = (merchant: string, network: number, authenticated: boolean, length: number) =>
    refused.keep({
      operation: sale,
      version: "v2",
      services: {} as CalledParts,
      at,
      from: `${network}`,
      call: {
        id: "1001",
        contentType: undefined,
        body: new Uint8Array(length),
        serialNumber,
        method: "POST",
        target: "/",
        port: 80,
        authorization: undefined,
      },
      outcome: {
        answer: new Failure("control_mismatch"),
        authenticated,
        entryPoint: {
          ...entryPoint,
          merchant: { ...entryPoint.merchant, id: asMerchantId(merchant) },
        },
      },
    });
  return { send, rows, flush: refused.flush };
}

// biome-ignore format: a table
const floods: readonly (readonly [what: string, merchants: number, bytes: number])[] = [
  ["one merchant",             1,   100],
  ["all merchants",            100, 100],
  ["all merchants, at length", 100, 100_000],
];

for (const [what, merchants, bytes] of floods) {
  test(`a flood of unsigned requests to ${what} pushes out no signed one`, async () => {
    const { send, rows, flush } = open();

    for (let each = 0; each < 500; each += 1) send(`${1 + (each % merchants)}`, each, false, bytes);
    for (let each = 0; each < 5; each += 1) send("1", 1, true, 1_000);
    for (let each = 0; each < 4; each += 1) await flush();

    assert.equal(rows.filter(({ authenticated }) => authenticated).length, 5);
    assert.ok(rows.length > 5 && rows.length <= 60, `${rows.length}`);
  });
}
