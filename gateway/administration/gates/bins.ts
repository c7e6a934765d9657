/** The BIN table, the table of card issuers: load, find, count. */
import { readIssuerFile } from "../../issuers/issuer-file.ts";
import {
  firstOf,
  formatPrefix,
  type IssuerRange,
  isPrefix,
  lastOf,
} from "../../issuers/issuers.ts";
import { makeIssuerStore } from "../../storage/configuration/issuer-ranges.ts";
import { CsvFaults } from "../../values/csv-records.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { type Content, file, word } from "../field.ts";
import { loadStaging } from "../installation/staging.ts";
import { type Output, Report, type Session } from "../session.ts";

const commandLineOnly = "a pipeline loads the table from a file of many megabytes";

export const binActions: readonly Action[] = [
  action({
    name: "bin load",
    does: [
      "replace the BIN table; a file with any fault changes nothing",
      "die BIN-Tabelle ersetzen; eine Datei mit einem Fehler ändert nichts",
    ],
    right: "change_acquiring",
    mode: "record",
    duration: "minutes",
    commandLineOnly,
    fields: { file: file("file.csv", ["the new table", "die neue Tabelle"]) },
    perform: loadIssuers,
  }),
  action({
    name: "bin find",
    does: [
      "show the issuers of cards that begin with these 6 to 11 digits",
      "die Herausgeber der Karten zeigen, die mit diesen 6 bis 11 Ziffern beginnen",
    ],
    right: "see_configuration",
    mode: "look",
    commandLineOnly,
    fields: {
      prefix: word("text", "prefix", ["the first 6 to 11 digits", "die ersten 6 bis 11 Ziffern"]),
    },
    perform: findIssuer,
  }),
  action({
    name: "bin count",
    does: [
      "show the number of ranges and the time of the last load",
      "die Zahl der Bereiche und die Zeit des letzten Ladens zeigen",
    ],
    right: "see_configuration",
    mode: "look",
    commandLineOnly,
    fields: {},
    perform: countIssuers,
  }),
];

async function loadIssuers(
  { database, progress }: Session,
  { file: { name, open } }: { readonly file: Content },
): Promise<Output> {
  try {
    const portions = readIssuerFile(open());
    const ranges = await makeIssuerStore(database).replace(portions, progress("ranges"));
    return { file: name, ranges };
  } catch (error) {
    if (!(error instanceof CsvFaults)) throw error;
    return new Problem([...error.sentences, "Nothing was changed."].join("\n"));
  }
}

async function findIssuer(
  session: Session,
  { prefix }: { readonly prefix: string },
): Promise<Output> {
  // The text is not repeated: it may be a whole card number.
  if (!isPrefix(prefix)) {
    return new Problem("A prefix is 6 to 11 digits, never a whole card number.");
  }
  const [first, last] = [firstOf(prefix), lastOf(prefix)];
  const loaded = await makeIssuerStore(session.database).findRanges(first, last);
  const builtIn = (await loadStaging(session.config))?.sandboxData.ranges ?? [];
  const rows = [
    ...loaded.map((range) => toRow(range, "loaded")),
    ...builtIn
      .filter((range) => range.first <= last && range.last >= first)
      .map((range) => toRow(range, "built in")),
  ];
  if (rows.length > 0) return rows;
  return new Report([], `The BIN table has no cards that begin with ${prefix}.`);
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

async function countIssuers({ database }: Session): Promise<Output> {
  const { ranges, loadedAt } = await makeIssuerStore(database).count();
  return new Report({ ranges, loadedAt }, { ranges, "loaded at": loadedAt ?? "never" });
}
