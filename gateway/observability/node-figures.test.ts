/** The figures on which operators set alarms. */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { findFree, findLeastFree, linkFigures, listDays } from "./metrics.ts";

test("a certificate that is not there has no figure", () => {
  const days = listDays([
    ["merchant port", 30],
    ["results port", undefined],
    ["directory red", -1],
  ]);

  assert.deepEqual(
    [...days],
    [
      ["merchant port", 30],
      ["directory red", -1],
    ],
  );
});

test("connections that are up and those that are wanted are two figures of each gate", () => {
  const figures = linkFigures(() => new Map([["acme", { up: 1, wanted: 2 }]]));

  assert.deepEqual([...figures.connectionsUp()], [["acme", 1]]);
  assert.deepEqual([...figures.connections()], [["acme", 2]]);
});

test("free space is that of the data folder, and of the log's where there is one", async () => {
  const dataDir = tmpdir();

  const alone = await findLeastFree({ dataDir, logFile: "" });
  const both = await findLeastFree({ dataDir, logFile: `${dataDir}/gateway.log` });

  assert.ok(alone > 0 && both > 0 && (await findFree(dataDir)) > 0);
});
