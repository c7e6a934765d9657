/** `gw bin`: loads the operator's BIN table, and tells what is known of cards that begin so. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { IssuerFileFaults, readIssuerFile } from "../issuers/issuer-file.ts";
import { firstOf, formatPrefix, type IssuerRange, isPrefix, lastOf } from "../issuers/issuers.ts";
import { sandboxRanges } from "../staging/sandbox-ranges.ts";
import { makeIssuerStore } from "../storage/issuer-ranges.ts";
import { Problem } from "../values/problem.ts";
import { complain, withInstallation } from "./installation.ts";
import { print } from "./print.ts";

type Options = { readonly json?: boolean };

const reportEveryRows = 100_000;

export async function loadIssuers(file: string, { json = false }: Options): Promise<void> {
  const problem = await findFileProblem(file);
  if (problem !== undefined) return complain(problem);
  await withInstallation(async ({ database }) => {
    try {
      const portions = readIssuerFile(createReadStream(file));
      const ranges = await makeIssuerStore(database).replace(portions, makeReport());
      print({ file, ranges }, json);
    } catch (error) {
      if (!(error instanceof IssuerFileFaults)) throw error;
      const sentences = [...error.sentences, "Nothing was changed."];
      complain(new Problem(sentences.join("\n")));
    }
  });
}

export async function findIssuer(prefix: string, { json = false }: Options): Promise<void> {
  // It is not repeated: it may be a whole card number.
  if (!isPrefix(prefix)) {
    return complain(new Problem("A prefix is 6 to 11 digits, never a whole card number."));
  }
  await withInstallation(async ({ database, config }) => {
    const [first, last] = [firstOf(prefix), lastOf(prefix)];
    const loaded = await makeIssuerStore(database).findRanges(first, last);
    const builtIn = sandboxRanges.filter((range) => range.first <= last && range.last >= first);
    const rows = [
      ...loaded.map((range) => toRow(range, "loaded")),
      ...(config.environment === "staging" ? builtIn : []).map((each) => toRow(each, "built in")),
    ];
    if (rows.length === 0 && !json) {
      return complain(new Problem(`Nothing is known of cards that begin with ${prefix}.`));
    }
    print(rows, json);
  });
}

export async function countIssuers({ json = false }: Options): Promise<void> {
  await withInstallation(async ({ database }) => {
    const { ranges, loadedAt } = await makeIssuerStore(database).count();
    if (json) print({ ranges, loadedAt }, true);
    else print({ ranges, "loaded at": loadedAt ?? "never" });
  });
}

function toRow({ first, last, issuer }: IssuerRange, from: string) {
  const { bankName, country, productCode, productName, typeCode, typeName } = issuer;
  return {
    first: formatPrefix(first),
    last: formatPrefix(last),
    bank: bankName,
    country,
    product_code: productCode,
    product_name: productName,
    type_code: typeCode,
    type_name: typeName,
    from,
  };
}

/** A line for every hundred thousand. */
function makeReport(): (count: number) => void {
  let told = 0;
  return (count) => {
    const rounded = Math.floor(count / reportEveryRows) * reportEveryRows;
    if (rounded > told) process.stderr.write(`${rounded} ranges\n`);
    told = rounded;
  };
}

async function findFileProblem(file: string): Promise<Problem | undefined> {
  try {
    const opened = await open(file);
    const isFile = (await opened.stat()).isFile();
    await opened.close();
    return isFile ? undefined : new Problem(`${file} is not a file.`);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return new Problem(`The file ${file} cannot be read: ${cause}.`);
  }
}
