/** One receiver, however it is spelled. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { receiverOf } from "./receiver.ts";

test("all spellings of a receiver are one", () => {
  const spellings = [
    ...["https://shop.example/told", "HTTPS://Shop.Example", "https://shop.example.:443/told?a=1"],
    ...[
      "https://%73hop.example/",
      "https://shop.example:0443/#part",
      "https:\\\\shop.example\\told",
    ],
  ];

  for (const url of spellings) assert.equal(receiverOf(url), "shop.example", url);
  assert.equal(receiverOf("http://SHOP.example.:8080/"), "shop.example:8080");
  assert.equal(receiverOf("http://0x7f.1/"), "127.0.0.1");
  assert.equal(receiverOf("http://[::0001]:8080/"), "[::1]:8080");
});

test("what is no address is nobody in particular", () => {
  for (const url of ["", "shop.example", "https://"]) assert.equal(receiverOf(url), "", url);
});
