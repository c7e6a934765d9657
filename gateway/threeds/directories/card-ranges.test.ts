/** Which directory server's word counts for a card. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CardNumber } from "../../values/card-number.ts";
import {
  makeFindEnrolment,
  makeFindInList,
  type Protocol,
  padFirst,
  padLast,
} from "./card-ranges.ts";
import type { DirectoryServer } from "./directory.ts";

const card = new CardNumber("4000000000000002");

test("a range of 2.x goes before one of 1.0.2, whoever told it", () => {
  const directories = [server("a"), server("b")];

  const find = makeFindEnrolment(directories, listsOf({ "1 a": "1.0.2", "2 b": "2.2.0" }));

  assert.deepEqual(find(card), { directory: "b", version: "2.2.0" });
});

test("ranges of a protocol in which one cannot be asked any more do not count", () => {
  const { url, ...settings } = server("a").settings;
  const directories = [{ ...server("a"), settings }];

  const find = makeFindEnrolment(directories, listsOf({ "2 a": "2.2.0", "1 a": "1.0.2" }));

  assert.deepEqual([url, find(card)?.version], ["https://a/2", "1.0.2"]);
});

test("one that answers for other networks is not meant", () => {
  const directories: DirectoryServer[] = [
    { ...server("a"), networks: ["MASTERCARD"] },
    server("b"),
  ];

  const find = makeFindEnrolment(directories, listsOf({ "2 a": "2.2.0", "2 b": "2.1.0" }));

  assert.deepEqual(find(card), { directory: "b", version: "2.1.0" });
});

/** Each has one range, which holds the card. */
function listsOf(versions: Readonly<Record<string, string>>) {
  return (directory: string, protocol: Protocol) => {
    const version = versions[`${protocol} ${directory}`];
    const range = { first: padFirst("4"), last: padLast("4"), version: version ?? "" };
    return version === undefined ? undefined : makeFindInList(directory, [range]);
  };
}

function server(name: string): DirectoryServer {
  return {
    name,
    networks: [],
    settings: {
      ...{ url: `https://${name}/2`, url102: `https://${name}/1` },
      ...{ certificateFile: "", keyFile: "", authorityFile: "" },
      ...{
        referenceNumber: "",
        operatorId: "",
        requestorId: "",
        requestorName: "",
        requestorUrl: "",
      },
    },
  };
}
