/** Card ranges in memory: the newest that were read are the ones that are seen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeLiveRanges } from "./live-ranges.ts";
import type { RangeStore } from "./range-store.ts";

test("of two reads at once the older does not win", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  let version = "2.1.0";
  const store: Pick<RangeStore, "stamps" | "list"> = {
    stamps: async () => [{ directory: "a", protocol: "2", stamp: version }],
    async list() {
      const range = { first: "4".padEnd(19, "0"), last: "4".padEnd(19, "9"), version };
      if (version === "2.1.0") await held;
      return [range];
    },
  };
  const ranges = makeLiveRanges(store);

  const older = ranges.reload();
  await turn();
  version = "2.2.0";
  const newer = ranges.reload();
  await turn();
  letGo();
  await Promise.all([older, newer]);

  assert.equal(ranges.find("a", "2")?.("4".padEnd(19, "1"))?.version, "2.2.0");
});

/** Whatever waits for nothing but promises is done by then. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
