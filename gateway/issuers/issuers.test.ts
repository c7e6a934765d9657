/** An operator's file as spreadsheets write it, and every fault that it can have. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CsvFaults } from "../values/csv-records.ts";
import { formatPrefix, readIssuerFile } from "./issuers.ts";

test("ranges and single prefixes are read, with columns in any order", async () => {
  const ranges = await read(
    "country,LAST,first,bank,type_name,type_code,product_name,product_code\n" +
      "NLD,40000019,400000,Example Trust,CREDIT,C,Visa Gold,P\n",
  );
  const bins = await read("bin,bank\n400000,One\n40000100000,Two\n");

  assert.deepEqual(ranges, [
    {
      first: 40_000_000_000,
      last: 40_000_019_999,
      issuer: {
        bankName: "Example Trust",
        country: "NLD",
        productCode: "P",
        productName: "Visa Gold",
        typeCode: "C",
        typeName: "CREDIT",
      },
    },
  ]);
  assert.deepEqual(
    bins.map(({ first, last }) => [formatPrefix(first), formatPrefix(last)]),
    [
      ["40000000000", "40000099999"],
      ["40000100000", "40000100000"],
    ],
  );
});

// biome-ignore format: a table
const cells: readonly (readonly [what: string, line: string, name: string | undefined, country: string | undefined])[] = [
  ["a quoted comma",             '400000,"Trust, of it",US',        "Trust, of it",     "USA"],
  ["a quoted quote",             '400000,"The ""Old"" Trust",US',   'The "Old" Trust',  "USA"],
  ["a quoted line end",          '400000,"Old\r\nTrust",US',        "Old Trust",        "USA"],
  ["everything quoted",          '"400000","Trust","US"',           "Trust",           "USA"],
  ["spaces around",              " 400000 , Trust  of it , nl ",   "Trust of it",      "NLD"],
  ["letters beyond ASCII",       "400000,Crédit Forêt 銀行,FR",      "Crédit Forêt 銀行", "FRA"],
  ["three letters for a country", "400000,Trust,DEU",               "Trust",           "DEU"],
  ["empty cells",                "400000,,",                       undefined,         undefined],
  ["empty quoted cells",         '400000,"",""',                   undefined,         undefined],
];

test("cells are read as spreadsheets write them", async () => {
  for (const [what, line, bankName, country] of cells) {
    for (const end of ["\n", "\r\n", ""]) {
      const [range] = await read(`bin,bank,country${end || "\n"}${line}${end}`);

      assert.equal(range?.issuer.bankName, bankName, what);
      assert.equal(range?.issuer.country, country, what);
    }
  }
});

test("a byte order mark, empty lines and any cutting into chunks change nothing", async () => {
  const text = '\ufeffbin,bank\r\n\r\n400000,"Crédit ""Forêt"""\r\n\r\n400001,銀行\r\n\r\n';

  for (const size of [1, 2, 3, 5, 7, 1000]) {
    const ranges = await read(text, size);

    assert.deepEqual(
      ranges.map(({ issuer }) => issuer.bankName),
      ['Crédit "Forêt"', "銀行"],
    );
  }
});

const strayed = "4000001000000018";

// biome-ignore format: a table
const faulty: readonly (readonly [text: string, faults: readonly string[]])[] = [
  ["",                                     ["Line 1: no header row; the file is empty."]],
  ["type_name\nOne\n",                     ["Line 1: there must be the columns first and last, or the column bin."]],
  ["first,type_name\n",                    ["Line 1: there must be the columns first and last, or the column bin."]],
  ["bin,first,last\n",                     ["Line 1: there must be the columns first and last, or the column bin."]],
  ["bin,bin\n",                            ["Line 1, column 2: the same name again."]],
  ["bin,type_name\n40000,One\n",           ["Line 2, column bin: not a prefix of 6 to 11 digits."]],
  ["bin,type_name\n4.0E+10,One\n",         ["Line 2, column bin: not a prefix of 6 to 11 digits."]],
  ["bin,type_name\n,One\n",                ["Line 2, column bin: not a prefix of 6 to 11 digits."]],
  ["bin\n٤٠٠٠٠٠\n",                        ["Line 2, column bin: not a prefix of 6 to 11 digits."]],
  [`bin,type_name\n${strayed},One\n`,      ["Line 2, column bin: more than 11 digits; card numbers have no place here."]],
  [`bin,type_name\n400000,${strayed}\n`,   ["Line 2, column type_name: more than 11 digits in a row; card numbers have no place here."]],
  ["bin,type_name\n400000,4000 0010 0000 0018\n", ["Line 2, column type_name: more than 11 digits in a row; card numbers have no place here."]],
  ["first,last\n4,5\n",                    ["Line 2, column first: not a prefix of 6 to 11 digits.", "Line 2, column last: not a prefix of 6 to 11 digits."]],
  ["first,last\n400001,400000\n",          ["Line 2, column last: lower than first."]],
  ["bin,country\n400000,XX\n",             ["Line 2, column country: not a country code of ISO 3166-1."]],
  ["bin,country\n400000,528\n",            ["Line 2, column country: not a country code of ISO 3166-1."]],
  ["bin,type_name\n400000\n",              ["Line 2: 1 cells instead of 2."]],
  ["bin,type_name\n400000,a,b\n",          ["Line 2: 3 cells instead of 2."]],
  ['bin,type_name\n400000,a "b" c\n',      ["Line 2: the quotes do not match."]],
  ['bin,type_name\n400000,"a"b\n',         ["Line 2: the quotes do not match."]],
  ['bin,type_name\n400000,"a\n400001,b\n', ["Line 2: the quotes do not match."]],
  ["bin,type_name\n400000,a\u0000b\n",     ["Line 2, column type_name: control characters."]],
  [`bin,type_name\n400000,${"a".repeat(129)}\n`, ["Line 2, column type_name: longer than 128 characters."]],
  ["bin\n400000\n400001\n40000000000\n400000\n", ["Line 5: the same range as line 2."]],
  ['bin,type_name\n400000,"a\nb"\n4,c\n',  ["Line 4, column bin: not a prefix of 6 to 11 digits."]],
];

test("what is wrong is told with line and column, and never repeats a card number", async () => {
  for (const [text, faults] of faulty) {
    const told = await faultsOf(text);

    assert.deepEqual(told, faults, JSON.stringify(text));
    assert.ok(!told.join().includes(strayed));
  }
});

test("a file without a header is refused without repeating its first row", async () => {
  const told = await faultsOf(`${strayed},One\n`);

  assert.match(told[0] ?? "", /^Line 1, column 1: an unknown name; the columns are bin, first, /);
  assert.ok(!told.join().includes(strayed));
});

test("bytes that are no UTF-8 are told by line and column", async () => {
  const latin1 = Buffer.from("bin,type_name\n400000,Cr\u00e9dit\n", "latin1");

  assert.deepEqual(await faultsOf(latin1), ["Line 2, column type_name: not UTF-8."]);
});

test("reading stops after twenty faults", async () => {
  const told = await faultsOf(`bin\n${"4\n".repeat(1000)}`);

  assert.equal(told.length, 21);
  assert.equal(told.at(-2), "Line 21, column bin: not a prefix of 6 to 11 digits.");
  assert.equal(told.at(-1), "Stopped reading after 20 faults.");
});

test("a quote that is never closed, or a line without end, does not fill the memory", async () => {
  const open = await faultsOf(`bin,type_name\n400000,"${"a\n".repeat(100_000)}`);
  const endless = await faultsOf(`bin\n${"4".repeat(1_000_000)}`);

  assert.equal(open[0], "Line 2: the quotes do not match.");
  assert.equal(endless[0], "Line 2: the quotes do not match.");
});

async function read(content: string | Uint8Array, chunkBytes = 64 * 1024) {
  const ranges = [];
  for await (const portion of readIssuerFile(chunksOf(content, chunkBytes))) {
    ranges.push(...portion);
  }
  return ranges;
}

async function faultsOf(content: string | Uint8Array): Promise<readonly string[]> {
  try {
    await read(content);
  } catch (error) {
    if (error instanceof CsvFaults) return error.sentences;
    throw error;
  }
  return assert.fail("nothing was wrong");
}

async function* chunksOf(content: string | Uint8Array, chunkBytes: number) {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
