/** Requests as text, and what must not get into them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeRequest } from "./index.ts";

test("a request has its headers, and a length when it has a body", () => {
  const headers = { host: "shop.example", accept: "*/*" };

  assert.equal(
    writeRequest({ method: "GET", target: "/told?a=b", headers }),
    "GET /told?a=b HTTP/1.1\r\nhost: shop.example\r\naccept: */*\r\n\r\n",
  );
  assert.equal(
    writeRequest({ method: "POST", target: "/", headers: {}, body: "ü=1" }),
    "POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nü=1",
  );
  assert.equal(
    writeRequest({ method: "POST", target: "/", headers: {} }),
    "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
  );
});

test("nothing can end its line early", () => {
  const fine = { method: "GET", target: "/", headers: {} };
  for (const bad of [
    { ...fine, method: "GET / HTTP/1.1\r\nx: y\r\n" },
    { ...fine, target: "/a b" },
    { ...fine, target: "/\r\nx: y" },
    { ...fine, target: "/ü" },
    { ...fine, headers: { "a: b\r\nc": "d" } },
    { ...fine, headers: { a: "b\r\nc: d" } },
    { ...fine, headers: { a: "b\nc: d" } },
  ]) {
    assert.throws(() => writeRequest(bad), TypeError);
  }
});
