/** The load generator's reader of replies, on which every figure depends. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findReply } from "./http-load.ts";

const head = "HTTP/1.1 200 OK\r\ncache-control: no-store\r\nContent-Length: 5\r\n\r\n";

test("a reply is read when it is complete, from any pieces", () => {
  const whole = `${head}a=b&c`;
  for (let bytes = 0; bytes < whole.length; bytes += 1) {
    assert.equal(findReply(whole.slice(0, bytes)), undefined);
  }

  assert.deepEqual(findReply(whole), { status: 200, body: "a=b&c" });
});

test("anything but the single expected reply is refused", () => {
  assert.throws(() => findReply(`${head}a=b&cHTTP`), /more than one/);
  assert.throws(() => findReply("HTTP/1.1 200 OK\r\n\r\n"), /content-length/);
});
