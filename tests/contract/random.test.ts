/**
 * Random requests of bytes, fields and encodings never lead to a 5xx, a stack trace or an order.
 */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { endOfFile } from "../support/end-of-file.ts";
import { saleFields } from "../support/merchant.ts";
import { series } from "../support/series.ts";
import { formOf, post, signedSale } from "../support/wire.ts";
import { startWorld } from "../support/world.ts";

const runs = series(60, 6_000);
/** No request of any test leaves an order. */
const world = await startWorld(endOfFile);
const plain = world.set.endpoints["plain"] ?? "";

test("random bytes as a body are refused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), operation, async (body, name) => {
      await assertRefused(`/gw/api/v2/${name}/${plain}`, body);
    }),
    { numRuns: runs },
  );
  await assertNoOrder();
});

test("random values in known fields are refused unless signed by the merchant", async () => {
  const known = [...Object.keys(saleFields()), "orderid", "comment", "control", "login"];
  const fields = fc.dictionary(fc.constantFrom(...known), text());
  await fc.assert(
    fc.asyncProperty(fields, operation, async (given, name) => {
      const body = formOf({ ...saleFields(), ...given });
      await assertRefused(`/gw/api/v2/${name}/${plain}`, body);
    }),
    { numRuns: runs },
  );
  await assertNoOrder();
});

test("signed requests with one broken field are refused and stored nowhere", async () => {
  // Fields in which random text of this kind is never correct by chance.
  const strict = ["ipaddress", "country", "credit_card_number", "expire_month", "redirect_url"];
  const broken = text().filter((value) => value.trim() !== "" && !/^[\d.:a-fA-F]+$/.test(value));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...strict), broken, async (name, value) => {
      fc.pre(name !== "redirect_url" || !/^https?:/i.test(value.trim()));
      fc.pre(name !== "country" || value.trim().length !== 2);
      const body = signedSale(world, plain, saleFields({ [name]: value }));
      await assertRefused(`/gw/api/v2/sale/${plain}`, body);
    }),
    { numRuns: runs },
  );
  await assertNoOrder();
});

test("random paths, methods and headers never break the gateway", async () => {
  const line = fc.string({ maxLength: 60 }).map((each) => each.replace(/[\r\n]/g, ""));
  await fc.assert(
    fc.asyncProperty(line, line, line, async (path, name, value) => {
      const lines = [`POST /gw/api/${path} HTTP/1.1`, "host: x", `x-${name}: ${value}`];
      const request = [...lines, "content-length: 3", "connection: close", "", "a=1"];
      const answer = await speak(world.gateway.port, request.join("\r\n"));
      assert.doesNotMatch(answer, /^HTTP\/1\.1 5/);
      assert.doesNotMatch(answer, /\.ts:\d+|at \w+ \(/);
    }),
    { numRuns: 150 },
  );
  await assertNoOrder();
});

const names = ["sale", "preauth", "account-verification", "capture", "return", "void"];
const operation = fc.constantFrom(
  ...["status", "status/group", ...names],
  ...names.flatMap((name) => [`${name}/group`, `sync/${name}`, `sync/${name}/group`]),
);

function text() {
  return fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.constantFrom(
      "0",
      "-1",
      "1e309",
      "NaN",
      "' or 1=1 --",
      "../../etc/passwd",
      "<script>",
      "\u0000",
    ),
  );
}

async function assertRefused(path: string, body: string | Uint8Array) {
  const reply = await post(world, path, body);
  assert.ok(reply.status < 500, `${reply.status}`);
  assert.match(reply.text, /^type=validation-error&serial-number=[-0-9a-f]{36}&error-message=/);
  assert.doesNotMatch(decodeURIComponent(reply.text), /\.ts:\d+|at \w+ \(/);
}

async function assertNoOrder(): Promise<void> {
  for (const table of ["orders", "order_history", "cards"]) {
    const rows = await world.installation.database.query(`select 1 from ${table} limit 1`);
    assert.equal(rows.length, 0, table);
  }
}

function speak(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.end(request));
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
}
