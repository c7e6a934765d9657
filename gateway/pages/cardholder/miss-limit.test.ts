/** Who is told apart, and how often somebody may look for what there is not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asInstant } from "../../values/time.ts";
import { clientNetworkOf } from "./client-network.ts";
import { makeMissLimit } from "./miss-limit.ts";

// biome-ignore format: a table
const networks: readonly (readonly [header: string | undefined, network: string | undefined])[] = [
  [undefined,                                  undefined],
  ["",                                         undefined],
  ["unknown",                                  undefined],
  ["203.0.113.7",                              "203.0.113.7"],
  ["10.0.0.1, 198.51.100.2 , 203.0.113.7",     "203.0.113.7"],
  ["203.0.113.7:54321",                        "203.0.113.7"],
  ["::ffff:203.0.113.7",                       "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6",                     "2001:db8:1:2"],
  ["2001:0DB8:0001:0002::9",                   "2001:db8:1:2"],
  ["[2001:db8:1:2::9]:443",                    "2001:db8:1:2"],
  ["2001:db8::1",                              "2001:db8:0:0"],
  ["::1",                                      "0:0:0:0"],
  ["203.0.113.7, 999.1.1.1",                   undefined],
];

test("a client is whom the last proxy names, and a household is one client", () => {
  for (const [header, network] of networks) {
    const headers = header === undefined ? {} : { "x-forwarded-for": header };
    assert.equal(clientNetworkOf(headers), network, String(header));
  }
});

test("misses are counted, finds are not, and time gives them back", () => {
  let nowMs = 0;
  const limit = makeMissLimit({ now: () => asInstant(nowMs) });

  for (let find = 0; find < 200; find += 1) {
    assert.equal(limit.take("a"), 0);
    limit.giveBack("a");
  }
  const misses = Array.from({ length: 62 }, () => limit.take("a"));
  nowMs = 500;
  const later = [limit.take("a"), limit.take("a"), limit.take("b"), limit.take(undefined)];

  assert.deepEqual(misses.slice(58), [0, 0, 1, 1]);
  assert.deepEqual(later, [0, 1, 0, 0]);
});
