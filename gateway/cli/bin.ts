/** `gw bin`: loads and searches the BIN table, the table of card issuers. */
import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { readIssuerFile } from "../issuers/issuer-file.ts";
import { firstOf, formatPrefix, type IssuerRange, isPrefix, lastOf } from "../issuers/issuers.ts";
import { makeIssuerStore } from "../storage/issuer-ranges.ts";
import { CsvFaults } from "../values/csv-records.ts";
import { Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { loadStaging } from "./environment.ts";
import { findFileProblem } from "./input-file.ts";
import { makeProgress } from "./terminal.ts";

export function addBinCommands(bin: Command): void {
  // biome-ignore format: a table
  addCommands(bin, [
    ["load <file.csv>", "replace the BIN table; a file with any fault changes nothing",  loadIssuers],
    ["find <prefix>",   "show the issuers of cards that begin with these 6 to 11 digits", findIssuer],
    ["count",           "show the number of ranges and the time of the last load",       countIssuers],
  ]);
}

async function loadIssuers({ database }: Session, file: string): Promise<Output> {
  const problem = await findFileProblem(file);
  if (problem !== undefined) return problem;
  try {
    const portions = readIssuerFile(createReadStream(file));
    const ranges = await makeIssuerStore(database).replace(portions, makeProgress("ranges"));
    return { file, ranges };
  } catch (error) {
    if (!(error instanceof CsvFaults)) throw error;
    return new Problem([...error.sentences, "Nothing was changed."].join("\n"));
  }
}

async function findIssuer(session: Session, prefix: string): Promise<Output> {
  // The text is not repeated: it may be a whole card number.
  if (!isPrefix(prefix)) {
    return new Problem("A prefix is 6 to 11 digits, never a whole card number.");
  }
  const [first, last] = [firstOf(prefix), lastOf(prefix)];
  const loaded = await makeIssuerStore(session.database).findRanges(first, last);
  const staging = await loadStaging(session.config);
  const builtIn = staging?.makeStagingParts(session).ranges ?? [];
  const rows = [
    ...loaded.map((range) => toRow(range, "loaded")),
    ...builtIn
      .filter((range) => range.first <= last && range.last >= first)
      .map((range) => toRow(range, "built in")),
  ];
  if (rows.length > 0 || session.json) return rows;
  return new Problem(`The BIN table has no cards that begin with ${prefix}.`);
}

function toRow({ first, last, issuer }: IssuerRange, from: string) {
  const { bankName, country, productCode, productName, typeCode, typeName } = issuer;
  return {
    ...{ first: formatPrefix(first), last: formatPrefix(last), bank: bankName, country },
    ...{ product_code: productCode, product_name: productName },
    ...{ type_code: typeCode, type_name: typeName, from },
  };
}

async function countIssuers({ database, json }: Session): Promise<Output> {
  const { ranges, loadedAt } = await makeIssuerStore(database).count();
  return json ? { ranges, loadedAt } : { ranges, "loaded at": loadedAt ?? "never" };
}
