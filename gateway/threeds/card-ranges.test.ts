/** The directory server with which a card is enrolled. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CardNumber } from "../values/card-number.ts";
import { findEnrolment, type Protocol, padFirst, padLast, readRangeLists } from "./card-ranges.ts";
import type { DirectoryServer } from "./directory-client.ts";

const card = new CardNumber("4000000000000002");

test("a range of 2.x goes before one of 1.0.2, whichever directory server sent it", async () => {
  const directories = [server("a"), server("b")];

  const found = findEnrolment(card, directories, await listsOf({ "1 a": "1.0.2", "2 b": "2.2.0" }));

  assert.deepEqual(found, { directory: "b", version: "2.2.0" });
});

test("ranges of a protocol in which one cannot be asked any more do not count", async () => {
  const { url, ...settings } = server("a").settings;
  const directories = [{ ...server("a"), settings }];

  const found = findEnrolment(card, directories, await listsOf({ "2 a": "2.2.0", "1 a": "1.0.2" }));

  assert.deepEqual([url, found?.version], ["https://a/2", "1.0.2"]);
});

test("one that answers for other networks is not meant", async () => {
  const directories: DirectoryServer[] = [
    { ...server("a"), networks: ["MASTERCARD"] },
    server("b"),
  ];

  const found = findEnrolment(card, directories, await listsOf({ "2 a": "2.2.0", "2 b": "2.1.0" }));

  assert.deepEqual(found, { directory: "b", version: "2.1.0" });
});

/** Each list has one range, which contains the card. */
function listsOf(versions: Readonly<Record<string, string>>) {
  const keys = Object.keys(versions).map((key) => key.split(" ") as [Protocol, string]);
  return readRangeLists({
    stamps: async () => keys.map(([protocol, directory]) => ({ protocol, directory, stamp: "1" })),
    async readRanges(directory, protocol, take) {
      const version = versions[`${protocol} ${directory}`] ?? "";
      take([{ first: padFirst("4"), last: padLast("4"), version }]);
    },
  });
}

function server(name: string): DirectoryServer {
  return {
    name,
    networks: [],
    settings: {
      url: `https://${name}/2`,
      url102: `https://${name}/1`,
      certificateFile: "",
      keyFile: "",
      authorityFile: "",
      referenceNumber: "",
      operatorId: "",
      requestorId: "",
      requestorName: "",
      requestorUrl: "",
    },
  };
}
