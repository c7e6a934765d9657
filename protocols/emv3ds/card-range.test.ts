/** Card ranges: both forms are read as one, with the versions that both sides support. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readCardRanges } from "./index.ts";
import { type Changes, makePres } from "./testing.ts";

const methodUrl = "https://acs.example/method";
const span = { startRange: "4000000000000000", endRange: "4999999999999999" };

// biome-ignore format: a table
const spans: readonly (readonly [acs: readonly [string, string], ds: Changes, message: Changes, expected: string])[] = [
  [["2.1.0", "2.1.0"],  {},                                                                   {},                                                       "2.1.0"],
  [["2.1.0", "2.2.0"],  {},                                                                   {},                                                       "2.1.0 2.2.0"],
  [["2.2.0", "2.10.0"], {},                                                                   {},                                                       "2.2.0 2.3.1"],
  [["2.1.0", "9.0.0"],  {},                                                                   { dsEndProtocolVersion: "2.2.0" },                        "2.1.0 2.2.0"],
  [["2.1.0", "2.2.0"],  { dsStartProtocolVersion: "2.2.0", dsEndProtocolVersion: "2.2.0" },   {},                                                       "2.2.0"],
  [["2.1.0", "2.2.0"],  { dsStartProtocolVersion: "2.1.0", dsEndProtocolVersion: "2.2.0" },   { dsStartProtocolVersion: "2.1.0", dsEndProtocolVersion: "2.1.0" }, "2.1.0 2.2.0"],
  [["2.3.0", "2.3.0"],  {},                                                                   {},                                                       ""],
  [["1.0.2", "1.0.2"],  {},                                                                   {},                                                       ""],
];

test("up to 2.2.0 the versions lie between the first and the last of both sides", () => {
  for (const [[acsStartProtocolVersion, acsEndProtocolVersion], ds, message, expected] of spans) {
    const acs = { acsStartProtocolVersion, acsEndProtocolVersion, threeDSMethodURL: methodUrl };
    const pres = makePres("2.2.0", { ...span, ...acs, ...ds }, message);

    const [range] = readCardRanges(pres);

    assert.equal(range?.versions.map(({ version }) => version).join(" "), expected);
    assert.ok(range?.versions.every((one) => one.methodUrl === methodUrl));
    assert.equal(range?.action, "A");
  }
});

test("from 2.3.1 on versions are listed, each with its own method", () => {
  const pres = makePres("2.3.1", {
    ranges: [
      { start: "4000000000000", end: "4000000000999" },
      { start: "4100000000000000", end: "4199999999999999" },
    ],
    actionInd: "M",
    dsProtocolVersions: ["2.2.0", "2.3.1", "2.4.0"],
    acsProtocolVersions: [
      { version: "2.4.0", threeDSMethodURL: methodUrl },
      { version: "2.3.1", threeDSMethodURL: methodUrl },
      { version: "2.2.0" },
      { version: "2.1.0" },
    ],
  });

  const versions = [
    { version: "2.2.0", methodUrl: undefined },
    { version: "2.3.1", methodUrl },
  ];
  assert.deepEqual(readCardRanges(pres), [
    { start: "4000000000000", end: "4000000000999", action: "M", versions },
    { start: "4100000000000000", end: "4199999999999999", action: "M", versions },
  ]);
});

test("a range to delete needs no versions, and a message may contain no ranges at all", () => {
  const pres = makePres("2.1.0", { ...span, actionInd: "D" });

  assert.deepEqual(readCardRanges(pres), [
    { start: span.startRange, end: span.endRange, action: "D", versions: [] },
  ]);
  assert.deepEqual(readCardRanges(makePres("2.1.0", {}, { cardRangeData: undefined })), []);
  assert.deepEqual(
    readCardRanges(makePres("2.1.0", {}, { cardRangeData: [1, null, "x", {}] })),
    [],
  );
});
