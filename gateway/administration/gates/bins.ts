/** The BIN table, which says who issued which cards: load, find, count. */
import {
  firstOf,
  formatPrefix,
  type IssuerRange,
  isPrefix,
  lastOf,
  readIssuerFile,
} from "../../issuers/issuers.ts";
import { makeIssuerStore } from "../../storage/configuration/issuer-ranges.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { word } from "../field.ts";
import { loadStaging } from "../installation/staging.ts";
import { refuseFaults } from "../readers.ts";
import { Report } from "../session.ts";

const commandLineOnly = "a pipeline loads the table from a file of many megabytes";

export const binActions: readonly Action[] = [
  action("record", "change_acquiring", {
    name: "bin load",
    does: ["replace the BIN table; a file with any fault changes nothing"],
    duration: "minutes",
    commandLineOnly,
    fields: { file: word("file", "file.csv", ["the new table"]) },
    async perform({ database, progress }, { file: { name, open } }) {
      const { replace } = makeIssuerStore(database);
      const ranges = await replace(readIssuerFile(open()), progress("ranges")).catch(
        refuseFaults("Nothing was changed."),
      );
      return ranges instanceof Problem ? ranges : { file: name, ranges };
    },
  }),
  action("look", "see_configuration", {
    name: "bin find",
    does: ["show the issuers of cards that begin with these 6 to 11 digits"],
    commandLineOnly,
    fields: {
      prefix: word("text", "prefix", ["the first 6 to 11 digits"]),
    },
    async perform({ config, database }, { prefix }) {
      // The error does not quote the prefix, because the user may have typed a whole card number.
      if (!isPrefix(prefix)) {
        return new Problem("A prefix is 6 to 11 digits, never a whole card number.");
      }
      const [first, last] = [firstOf(prefix), lastOf(prefix)];
      const loaded = await makeIssuerStore(database).findRanges(first, last);
      const builtIn = (await loadStaging(config))?.sandboxData.ranges ?? [];
      const rows = [
        ...loaded.map((range) => toRow(range, "loaded")),
        ...builtIn
          .filter((range) => range.first <= last && range.last >= first)
          .map((range) => toRow(range, "built in")),
      ];
      if (rows.length > 0) return rows;
      return new Report([], `The BIN table has no cards that begin with ${prefix}.`);
    },
  }),
  action("look", "see_configuration", {
    name: "bin count",
    does: ["show the number of ranges and the time of the last load"],
    commandLineOnly,
    async perform({ database }) {
      const { ranges, loadedAt } = await makeIssuerStore(database).count();
      return new Report({ ranges, loadedAt }, { ranges, "loaded at": loadedAt ?? "never" });
    },
  }),
];

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
