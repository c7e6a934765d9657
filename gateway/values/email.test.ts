/** Email addresses: which texts are one, and which two are the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { foldEmail, parseDomain, parseEmail } from "./email.ts";

test("an address is given with its domain in ASCII", () => {
  assert.equal(parseEmail("Jane.Doe+tag@Shop.Example"), "Jane.Doe+tag@shop.example");
  assert.equal(parseEmail("jane@exämple.com"), "jane@xn--exmple-cua.com");
  assert.equal(parseEmail("jane@ｂｌｏｃｋｅｄ.example"), "jane@blocked.example");
  assert.equal(parseDomain("ｂｌｏｃｋｅｄ。example"), "blocked.example");
});

test("what is not an address is undefined", () => {
  // biome-ignore format: a list
  const texts = [
    "", "@", "jane", "jane@", "@shop.example", "jane@example", "jane@shop.example.", "ja ne@shop.example",
    "jane@shop.example/x", "jane@shop.example?x", "jane@shop.example#x", "jane@shop%2eexample", "jane@shop.example\\x", "jane@1.2",
    "jane@shop..example", "jane@-x.com", "a@b@shop.example", "ｊane@shop.example", "jane@shop.example\n", `${"a".repeat(65)}@shop.example`,
  ];
  for (const text of texts) assert.equal(parseEmail(text), undefined, text);
});

test("addresses that differ in case or in the script of the domain are the same", () => {
  const same = ["X@Blocked.example", "x@ｂlocked.example", " x@blocked.example "];
  assert.deepEqual(new Set(same.map(foldEmail)), new Set(["x@blocked.example"]));
  assert.notEqual(foldEmail("j.d@shop.example"), foldEmail("jd@shop.example"));
});
