/** Which `Accept` headers get JSON. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFor, type ReplyFormat } from "./reply-format.ts";

// biome-ignore format: a table
const wishes: readonly (readonly [accept: string | undefined, format: ReplyFormat])[] = [
  [undefined,                                              "form"],
  ["",                                                     "form"],
  ["*/*",                                                  "form"],
  ["text/html",                                            "form"],
  ["application/xml",                                      "form"],
  ["application/*",                                        "form"],

  ["application/json",                                     "json"],
  ["APPLICATION/JSON",                                     "json"],
  ["application/json;charset=utf-8",                       "json"],
  ["application/json, application/xml",                    "json"],
  ["application/json, application/*",                      "json"],
  ["application/json, text/javascript, */*; q=0.01",       "json"],
  ["text/html;q=0.8, application/json",                    "json"],
  ["text/html;q=0.8, application/json ; q=0.9 , */*;q=0.1", "json"],
  ["application/json;q=0.001",                             "json"],
  ["application/json;Q=1.000, text/*;q=0.999",             "json"],
  ["application/json;profile=\"a;b,c\"",                   "json"],

  // What HTTP libraries send unasked, and ties.
  ["application/json, text/plain, */*",                    "form"],
  ["application/json, */*;q=1.0",                          "form"],
  ["application/json;q=0.9, */*",                          "form"],
  ["application/json;q=0.5, text/*;q=0.5",                 "form"],
  ["text/html, application/json",                          "form"],
  ["application/xml, application/json;q=0.9",              "form"],
  ["text/html, application/xhtml+xml, application/xml;q=0.9, application/json;q=0.8", "form"],

  // No weight, and malformed ones.
  ["application/json;q=0",                                 "form"],
  ["application/json;q=0.000",                             "form"],
  ["application/json;q=0, application/xml;q=0",            "form"],
  ["application/json;q=2",                                 "form"],
  ["application/json;q=-1",                                "form"],
  ["application/json;q=0.1234",                            "form"],
  ["application/json;q=high",                              "form"],
  ["application/json;q=",                                  "form"],
  ["application/jsonp",                                    "form"],
  ["json",                                                 "form"],
  ["text/html;q=high, application/json;q=0.5",             "json"],
  [",,;;, application/json,",                              "json"],

  ["application/vnd.pay+json",                             "json"],
  ["Application/Vnd.Pay+JSON;q=0.1, */*",                  "json"],
  ["text/html, application/vnd.pay+json",                  "json"],
  ["application/vnd.pay+json;q=0, */*",                    "form"],
  ["application/vnd.pay+json;q=0, application/json",       "json"],
  ["application/vnd.other+json",                           "form"],
];

test("JSON is for clients that prefer it to every type the form could pass for", () => {
  for (const [accept, format] of wishes) assert.equal(formatFor(accept), format, String(accept));
});
