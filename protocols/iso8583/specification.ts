/**
 * A dialect of ISO 8583:1987 is a table: one row per field, each column chosen from the tables
 * below. A new bank is a new table, not new code. A table is checked and compiled on first use.
 */
import assert from "node:assert/strict";

export type Specification = {
  readonly mti: Encoding;
  readonly bitmap: Encoding;
  readonly oddDigits: Padding;
  readonly rows: readonly FieldRow[];
  /** The private fields whose bytes are sub-fields behind a bitmap of their own. */
  readonly composites?: readonly Composite[];
};

/** The rows number sub-fields from 1 to 64: there is no second bitmap. */
export type Composite = Pick<Specification, "oddDigits" | "rows"> & { readonly field: number };

/** The maximum length is in units of the encoding: characters, digits or bytes. */
export type FieldRow = readonly [
  field: number,
  name: string,
  content: Content,
  prefix: LengthPrefix,
  lengthMax: number,
  encoding: Encoding,
];

/** As faults name it; a sub-field is named like `126.9`. */
export type FieldName = number | Subfield | "mti" | "bitmap" | "end";
export type Subfield = `${number}.${number}`;

/** How an odd number of packed digits fills its last byte; length prefixes never count this. */
export type Padding = "none" | "left 0" | "right F";

export type Content = keyof typeof alphabets;

/** For each content, by character code, 1 if allowed. Messages carry bytes as upper-case hex. */
export const alphabets = {
  n: makeAlphabet(/[0-9]/),
  an: makeAlphabet(/[0-9A-Za-z ]/),
  ans: makeAlphabet(/[ -~]/),
  b: makeAlphabet(/[0-9A-F]/),
};

export function isWrittenIn(alphabet: Uint8Array, value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    if (alphabet[value.charCodeAt(at)] !== 1) return false;
  }
  return true;
}

export type Encoding = keyof typeof encodings;

/**
 * A packed value has two hexadecimal digits in a byte, any other one character. The last columns
 * are the characters in one unit of the row's length, and in one step of a length prefix: a prefix
 * before hex counts characters, not bytes.
 */
// biome-ignore format: a table
export const encodings = {
  ascii:  { isPacked: false, unit: "characters", charactersPerUnit: 1, charactersPerCount: 1 },
  bcd:    { isPacked: true,  unit: "digits",     charactersPerUnit: 1, charactersPerCount: 1 },
  hex:    { isPacked: false, unit: "bytes",      charactersPerUnit: 2, charactersPerCount: 1 },
  binary: { isPacked: true,  unit: "bytes",      charactersPerUnit: 2, charactersPerCount: 2 },
};

export type LengthPrefix = keyof typeof prefixes;

/** Three digits packed into two bytes have a leading zero, which the maximum enforces. */
// biome-ignore format: a table
export const prefixes = {
  "fixed":     { isPacked: false, bytes: 0, radix: 10, countMax: 0   },
  "LL ascii":  { isPacked: false, bytes: 2, radix: 10, countMax: 99  },
  "LLL ascii": { isPacked: false, bytes: 3, radix: 10, countMax: 999 },
  "LL bcd":    { isPacked: true,  bytes: 1, radix: 10, countMax: 99  },
  "LLL bcd":   { isPacked: true,  bytes: 2, radix: 10, countMax: 999 },
  "LL binary": { isPacked: true,  bytes: 1, radix: 16, countMax: 255 },
};

export type FieldCodec = ReturnType<typeof makeCodec>;
export type Compiled = ReturnType<typeof compileRows>;

export const compile = once(({ mti, bitmap, oddDigits, rows }: Specification) => ({
  ...compileRows(rows, oddDigits, {
    bitmap: makeCodec("bitmap", oddDigits, "b", "fixed", 8, bitmap),
    lowest: 2,
    highest: 128,
    nameOf: (number) => number,
    end: "end",
  }),
  mti: makeCodec("mti", oddDigits, "n", "fixed", 4, mti),
}));

export const compileComposite = once(({ field, oddDigits, rows }: Composite) =>
  compileRows(rows, oddDigits, {
    bitmap: makeCodec(field, oddDigits, "b", "fixed", 8, "binary"),
    lowest: 1,
    highest: 64,
    nameOf: (number) => `${field}.${number}`,
    end: field,
  }),
);

type Frame = {
  readonly bitmap: FieldCodec;
  readonly lowest: number;
  readonly highest: number;
  readonly nameOf: (number: number) => FieldName;
  /** The name for bytes after the last field. */
  readonly end: FieldName;
};

function compileRows(rows: readonly FieldRow[], padding: Padding, frame: Frame) {
  const fields: (FieldCodec | undefined)[] = new Array(frame.highest + 1).fill(undefined);
  for (const [number, , ...columns] of rows) {
    const name = frame.nameOf(number);
    const hasBit = number >= frame.lowest && number <= frame.highest && name !== 65;
    assert.ok(hasBit, `field ${name} has no bit of its own`);
    assert.ok(fields[number] === undefined, `field ${name} has two rows`);
    fields[number] = makeCodec(name, padding, ...columns);
  }
  return { ...frame, fields };
}

function makeCodec(
  field: FieldName,
  padding: Padding,
  content: Content,
  prefixName: LengthPrefix,
  lengthMax: number,
  encoding: Encoding,
) {
  const prefix = prefixes[prefixName];
  const isFixed = prefixName === "fixed";
  const { unit, ...packing } = encodings[encoding];
  const charactersMax = lengthMax * packing.charactersPerUnit;

  const isTooLong = !isFixed && charactersMax > prefix.countMax * packing.charactersPerCount;
  const canBeOdd = unit === "digits" && !(isFixed && charactersMax % 2 === 0);
  assert.equal(unit === "bytes", content === "b", `field ${field}: bytes go with content b`);
  assert.ok(unit !== "digits" || content === "n", `field ${field}: digits go with content n`);
  assert.ok(!isTooLong, `field ${field}: its length does not fit its prefix`);
  assert.ok(!canBeOdd || padding !== "none", `field ${field}: odd digits need padding`);
  return {
    field,
    alphabet: alphabets[content],
    prefix,
    isFixed,
    charactersMax,
    ...packing,
    padding,
  };
}

function makeAlphabet(allowed: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) =>
    allowed.test(String.fromCharCode(code)) ? 1 : 0,
  );
}

function once<Table extends object, Made>(make: (table: Table) => Made): (table: Table) => Made {
  const compiled = new WeakMap<Table, Made>();
  return (table) => {
    const known = compiled.get(table);
    if (known !== undefined) return known;
    const made = make(table);
    compiled.set(table, made);
    return made;
  };
}
