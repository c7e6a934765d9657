/** Checks that tables fit into a terminal of 100 columns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatTable } from "./command.ts";

test("a narrow table has one line for each row and plain column names", () => {
  const rows = [
    { orderId: "7", status: "approved", url: "" },
    { orderId: "12", status: "declined", url: "https://shop.example" },
  ];

  assert.deepEqual(formatTable(rows), [
    "order id  status    url",
    "7         approved",
    "12        declined  https://shop.example",
  ]);
});

test("columns that do not fit are printed below their row, without empty ones", () => {
  const long = "x".repeat(80);
  const rows = [
    { order: "7", error: long, status: "approved", reference: "R1", link: "" },
    { order: "8", error: "", status: "declined", reference: "R2", link: "L".repeat(30) },
  ];

  assert.deepEqual(formatTable(rows), [
    `order  error${" ".repeat(77)}status`,
    `7      ${long}  approved`,
    "    reference: R1",
    `8      ${" ".repeat(82)}declined`,
    `    reference: R2  link: ${"L".repeat(30)}`,
  ]);
});

test("no line is longer than 100 columns, except for a single longer value", () => {
  const url = `https://shop.example/${"p".repeat(120)}`;
  const serial = "01a1f2ef-65c2-7ced-b5d5-2f5dc965da50";
  const row = { order: "1", made: "m".repeat(60), next: "n".repeat(60), serial, url, end: serial };

  const lines = formatTable([row]);

  const [tooLong, ...others] = lines.filter((line) => line.length > 100);
  assert.equal(tooLong, `    url: ${url}`);
  assert.deepEqual(others, []);
  for (const value of Object.values(row)) assert.ok(lines.some((line) => line.includes(value)));
});
