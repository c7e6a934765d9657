/** Pages of a report: the thread prints what the process would print, or the report fails. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draft, events, step } from "../orders/testing.ts";
import {
  type BegunRow,
  packFacts,
  packProgress,
  unpackBegun,
} from "../storage/orders/order-row.ts";
import { asInstant } from "../values/time.ts";
import { makeTransactionReport, type ReportPage } from "./report.ts";

const { order } = step(draft, events.received);
const query = { merchantId: order.merchantId, from: asInstant(0), until: asInstant(8e15) };

function makeRow(number: number, progress = packProgress(order)): BegunRow {
  return {
    merchant_id: order.merchantId,
    id: String(number),
    endpoint_id: order.endpointId,
    client_orderid: `invoice "${number}"`,
    attempt: 0,
    version: order.version,
    changed_at: order.acceptedAt,
    facts: packFacts(order),
    progress,
    begun_at: order.acceptedAt + number,
    begun_version: 1,
    serial: undefined,
  };
}

/** Makes a report of these rows, page by page. */
function reportOf(rows: readonly BegunRow[]) {
  return makeTransactionReport({
    async findBegun({ after, limit }: ReportPage) {
      const first = Number(after?.orderId ?? 0);
      const page = rows.slice(first, first + limit);
      const isLast = first + limit >= rows.length;
      const next = { at: asInstant(0), orderId: String(first + limit), version: 1 };
      return { rows: page, end: isLast ? undefined : next };
    },
    unpack: unpackBegun,
    settingsOf: () => ({ threeDSecure: "off" }),
    zone: "Europe/Berlin",
    fieldWord: "gw",
  });
}

test("the pages that the thread prints are those that the process would print", async () => {
  const rows = Array.from({ length: 1_001 }, (_, number) => makeRow(number));
  const report = reportOf(rows);

  const lines = (await Array.fromAsync(report.stream(query))).join("").split("\r\n");
  const records = await Array.fromAsync(report.rows(query));

  assert.equal(lines.length, 1 + 1_001 + 1);
  const ids = records.map((record) => record["gw-order-id"]);
  assert.deepEqual(
    ids,
    rows.map(({ id }) => id),
  );
  for (const [at, record] of records.entries()) {
    const line = lines[at + 1] ?? "";
    assert.ok(line.startsWith(`${at},"invoice ""${at}""",`), line);
    assert.ok(line.includes(`,${record["created"]},`), line);
  }
});

test("a page that cannot be read ends the report with an error", async () => {
  const rows = Array.from({ length: 500 }, (_, number) => makeRow(number));
  const parts = reportOf([...rows, makeRow(500, '{"schema":99}')]).stream(query);

  await assert.rejects(Array.fromAsync(parts), /thread of the report: lost .*schema 99/);
});
