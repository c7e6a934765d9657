/** Callback URLs of endpoints: permitted macros, and the results that each URL gets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallbackUrl } from "../orders/merchant.ts";
import { approved, asks, events, inStage, meet } from "../orders/testing.ts";
import { fillMacros, makeFindEndpointUrls, readMacros } from "./callback-urls.ts";

const wire = { fieldWord: "gw" };
const shop = "https://shop.example/told";

test("a macro is the name of a field, in the styles that shops know", () => {
  // biome-ignore format: a table
  const urls: readonly (readonly [given: string, kept: string])[] = [
    [`${shop}?a=1&b=2`,                              `${shop}?a=1&b=2`],
    [`${shop}?s=\${status}`,                         `${shop}?s=\${status}`],
    [`${shop}?s=\${processor_tx_id}`,                `${shop}?s=\${processor-tx-id}`],
    [`${shop}?s=\${error-code}#$`,                  `${shop}?s=\${error_code}#$`],
    [`${shop}?a=$!{STATUS}-$!{BIN}&b=\${control}`,   `${shop}?a=\${status}-\${bin}&b=\${control}`],
    [`${shop}?a=$!{GW_ORDER_ID}`,                    `${shop}?a=\${orderid}`],
    [`${shop}?a=$!{MERCHANT_ORDER_ID}`,              `${shop}?a=\${client_orderid}`],
    ["HTTPS://Shop.example:443/a/../told?A=%7e",      `${shop}?A=%7e`],
    [`https://shop.example?s=\${status}`,            `https://shop.example/?s=\${status}`],
  ];
  for (const [given, kept] of urls) assert.deepEqual(readMacros(given, wire), { url: kept }, given);
  assert.deepEqual(readMacros(`${shop}?a=$!{ACME_ORDER_ID}`, { fieldWord: "acme" }), {
    url: `${shop}?a=\${orderid}`,
  });
});

test("a macro outside of a query value is refused, and so is one that no field has", () => {
  // biome-ignore format: a table
  const refused: readonly string[] = [
    `https://\${email}.example/`,
    `https://shop.example:\${bin}/`,
    `https://\${email}@shop.example/?a=\${status}`,
    `https://shop.example/\${orderid}`,
    "https://shop.example/$!{STATUS}?a=b",
    `${shop}?\${status}=1`,
    `${shop}?\${status}`,
    `${shop}?a=1#\${status}`,
    `${shop}?a=\${secret}`,
    `${shop}?a=\${}`,
    `${shop}?a=\${status`,
    `${shop}?a=$!{status}`,
    `${shop}?a=\${STATUS}`,
    `${shop}?a=\${status}&b=\${\${status}}`,
    `${shop}?a=\${ status }`,
    `${shop}?a=${"x".repeat(1_024)}`,
    `${shop}?a=\u0000`,
    `${shop}?a=\ud800`,
    "https:\\\\shop.example/",
  ];
  for (const url of refused) assert.ok("fault" in readMacros(url, wire), url);
});

test("a value cannot leave its place: every character with a meaning is escaped", () => {
  const hostile = `a&b=c#d/../?e\r\nHost: evil é€ \ud800\${status}%41`;

  const filled = fillMacros(`${shop}?a=\${email}&b=\${phone}&c=\${status}`, [
    ["email", hostile],
    ["status", "approved"],
  ]);

  const { origin, pathname, searchParams, hash } = new URL(filled);
  assert.deepEqual([origin, pathname, hash], ["https://shop.example", "/told", ""]);
  assert.deepEqual(
    [...searchParams],
    [
      ["a", hostile.toWellFormed()],
      ["b", ""],
      ["c", "approved"],
    ],
  );
  assert.match(filled, /^[!-~]+$/);
});

test("a URL gets the types and the status that its operator has chosen, and once", () => {
  const returned = meet(meet(approved(), asks("return")), events.returned);
  const declined = inStage("declined");
  const voided = meet(meet(approved(), asks("void")), events.returned);
  const urls: readonly CallbackUrl[] = [
    { type: "all", url: "https://all" },
    { type: "sale", url: "https://sale" },
    { type: "sale", status: "declined", url: "https://declined" },
    { type: "reversal", url: "https://reversal" },
    { type: "chargeback", url: "https://chargeback" },
    { type: "reversal", url: "https://all" },
  ];
  const find = (order: typeof returned, voidAs?: "reversal") => {
    const settings = {
      threeDSecure: "off" as const,
      callbackUrls: urls,
      ...(voidAs && { voidAs }),
    };
    const found = makeFindEndpointUrls(() => ({ settings }));
    return found({ order, transaction: order.transaction }).join(" ");
  };
  const { chargeback } = events.charged_back;
  const disputed = { order: returned, transaction: returned.transaction, dispute: chargeback };
  const settings = { threeDSecure: "off" as const, callbackUrls: urls };

  assert.equal(find(approved()), "https://all https://sale");
  assert.equal(find(declined), "https://all https://sale https://declined");
  assert.equal(find(returned), "https://all https://reversal");
  assert.equal(find(voided), "https://all");
  assert.equal(find(voided, "reversal"), "https://all https://reversal");
  assert.deepEqual(makeFindEndpointUrls(() => ({ settings }))(disputed), [
    "https://all",
    "https://chargeback",
  ]);
  assert.deepEqual(makeFindEndpointUrls(() => undefined)(disputed), []);
});
