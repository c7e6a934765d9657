/**
 * A message of ISO 8583 as values, and the layout that describes its bytes. A layout is a table:
 * one row per field, with each column chosen from the tables below. A new host needs a new table
 * and no new code. A table is checked and compiled on first use.
 */
import assert from "node:assert/strict";

export type IsoMessage = { readonly mti: string; readonly fields: IsoFields };

/**
 * The fields of a message. Values are as wide as on the wire, including spaces and zeros, and bytes
 * are upper-case hex. Field 1, the second bitmap, is never listed because it follows from the
 * fields above 64.
 */
export type IsoFields = { readonly [field: number]: string };

export type DecodeReason =
  | "truncated"
  | "malformed_length"
  | "too_long"
  | "invalid_content"
  | "invalid_padding"
  | "unknown_field"
  | "duplicate"
  | "trailing_bytes"
  | "mac_missing"
  | "mac_wrong";

export class DecodeFault {
  readonly field: FieldName;
  readonly reason: DecodeReason;

  constructor(field: FieldName, reason: DecodeReason) {
    this.field = field;
    this.reason = reason;
  }
}

/**
 * Returns the type of the answer. Digit three is the function: even numbers ask or advise, and the
 * next odd number answers. Digit four is the origin, with an odd number for a repeat: 0420 and 0421
 * have the same answer.
 */
export function responseMti(mti: string): string {
  assert.match(mti, /^\d\d[02468]\d$/, `${mti} is not a request`);
  return `${mti.slice(0, 2)}${Number(mti[2]) + 1}${Number(mti[3]) & ~1}`;
}

export type Specification = {
  readonly mti: Encoding;
  readonly bitmap: Encoding;
  /** The padding of rows that do not name their own. */
  readonly oddDigits: Padding;
  readonly rows: readonly FieldRow[];
  /**
   * Fields that a dialect uses besides the usual ones, which decide about money or match an answer
   * with its request. Their content is checked when it is read. In any other field, decode
   * tolerates what the list in `codec.ts` says.
   */
  readonly checked?: readonly number[];
  /** Private fields whose bytes are sub-fields with a bitmap of their own. */
  readonly composites?: readonly Composite[];
  /** Private fields that contain no card data in this layout, so that logs may show them. */
  readonly shown?: readonly number[];
};

/**
 * A composite field. Its rows number sub-fields from 1 to 64, because there is no second bitmap.
 */
export type Composite = Pick<Specification, "oddDigits" | "rows"> & { readonly field: number };

/** A row. The maximum length is in units of the encoding: characters, digits or bytes. */
export type FieldRow = readonly [
  field: number,
  name: string,
  content: Content,
  prefix: LengthPrefix,
  lengthMax: number,
  encoding: Encoding,
  oddDigits?: Padding,
];

/** The name of a field in faults. A sub-field is named like `126.9`. */
export type FieldName = number | Subfield | "mti" | "bitmap" | "end";
type Subfield = `${number}.${number}`;

/**
 * The side of the half byte that an odd number of packed digits leaves, and the digit that fills
 * it. A length prefix does not count it, unless it counts bytes.
 */
export type Padding = "none" | `${"left" | "right"} ${"0" | "F"}`;

export type Content = keyof typeof alphabets;

/**
 * For each content, an array by character code with 1 for allowed characters. Messages contain
 * bytes as upper-case hex.
 */
export const alphabets = {
  n: makeAlphabet(/[0-9]/),
  an: makeAlphabet(/[0-9A-Za-z ]/),
  ans: makeAlphabet(/[ -~]/),
  /** Track data. In packed form, the separator is the half byte D. */
  z: makeAlphabet(/[0-9=]/),
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
 * The encodings. A packed value has two hexadecimal digits in a byte, any other one character. The
 * last columns are the characters in one unit of the row's length, in one step of a length prefix,
 * and in one step of a prefix that counts bytes: for a packed value those on the wire, for hex
 * those that it represents.
 */
export const encodings = {
  "ascii": { written: "ascii", unit: "characters", perUnit: 1, perCount: 1, perByte: 1 },
  "cp037": { written: "cp037", unit: "characters", perUnit: 1, perCount: 1, perByte: 1 },
  "cp1047": { written: "cp1047", unit: "characters", perUnit: 1, perCount: 1, perByte: 1 },
  "bcd": { written: "packed", unit: "digits", perUnit: 1, perCount: 1, perByte: 2 },
  "hex": { written: "ascii", unit: "bytes", perUnit: 2, perCount: 1, perByte: 2 },
  "hex cp037": { written: "cp037", unit: "bytes", perUnit: 2, perCount: 1, perByte: 2 },
  "binary": { written: "packed", unit: "bytes", perUnit: 2, perCount: 2, perByte: 2 },
} as const;

type LengthPrefix = keyof typeof prefixes;

/**
 * The length prefixes. Three digits packed into two bytes have a leading zero, which the maximum
 * enforces.
 */
export const prefixes = {
  "fixed": { written: "ascii", bytes: 0, radix: 10, countMax: 0, isOfBytes: false },
  "LL ascii": { written: "ascii", bytes: 2, radix: 10, countMax: 99, isOfBytes: false },
  "LLL ascii": { written: "ascii", bytes: 3, radix: 10, countMax: 999, isOfBytes: false },
  "LLLL ascii": { written: "ascii", bytes: 4, radix: 10, countMax: 9999, isOfBytes: false },
  "LL ascii of bytes": { written: "ascii", bytes: 2, radix: 10, countMax: 99, isOfBytes: true },
  "LLL ascii of bytes": { written: "ascii", bytes: 3, radix: 10, countMax: 999, isOfBytes: true },
  "LL bcd": { written: "packed", bytes: 1, radix: 10, countMax: 99, isOfBytes: false },
  "LLL bcd": { written: "packed", bytes: 2, radix: 10, countMax: 999, isOfBytes: false },
  "LLLL bcd": { written: "packed", bytes: 2, radix: 10, countMax: 9999, isOfBytes: false },
  "LL bcd of bytes": { written: "packed", bytes: 1, radix: 10, countMax: 99, isOfBytes: true },
  "LLL bcd of bytes": { written: "packed", bytes: 2, radix: 10, countMax: 999, isOfBytes: true },
  "LL ebcdic": { written: "cp037", bytes: 2, radix: 10, countMax: 99, isOfBytes: false },
  "LLL ebcdic": { written: "cp037", bytes: 3, radix: 10, countMax: 999, isOfBytes: false },
  "LL ebcdic of bytes": { written: "cp037", bytes: 2, radix: 10, countMax: 99, isOfBytes: true },
  "LLL ebcdic of bytes": { written: "cp037", bytes: 3, radix: 10, countMax: 999, isOfBytes: true },
  "LL binary": { written: "packed", bytes: 1, radix: 16, countMax: 255, isOfBytes: false },
  "LLL binary": { written: "packed", bytes: 2, radix: 16, countMax: 65535, isOfBytes: false },
  "LL binary of bytes": { written: "packed", bytes: 1, radix: 16, countMax: 255, isOfBytes: true },
} as const;

/**
 * The fields that are always checked: 4 amount, 11 and 37 identifiers of the request, 38 approval
 * code, 39 response code, 41 terminal, 49 currency, 64 and 128 MAC, 70 network management.
 */
const alwaysChecked: readonly number[] = [4, 11, 37, 38, 39, 41, 49, 64, 70, 128];

export type FieldCodec = ReturnType<typeof makeCodec>;
export type Compiled = ReturnType<typeof compileRows>;

export const compile = once((specification: Specification) => {
  const { mti, bitmap, oddDigits, rows } = specification;
  const checked = [...alwaysChecked, ...(specification.checked ?? [])];
  return {
    ...compileRows(rows, oddDigits, {
      bitmap: makeCodec("bitmap", true, oddDigits, "b", "fixed", 8, bitmap),
      lowest: 2,
      highest: 128,
      isChecked: (number) => checked.includes(number),
      keepsRest: false,
      nameOf: (number) => number,
      end: "end",
    }),
    mti: makeCodec("mti", true, oddDigits, "n", "fixed", 4, mti),
  };
});

export const compileComposite = once(({ field, oddDigits, rows }: Composite) =>
  compileRows(rows, oddDigits, {
    bitmap: makeCodec(field, true, oddDigits, "b", "fixed", 8, "binary"),
    lowest: 1,
    highest: 64,
    isChecked: () => true,
    keepsRest: true,
    nameOf: (number) => `${field}.${number}`,
    end: field,
  }),
);

type Frame = {
  readonly bitmap: FieldCodec;
  readonly lowest: number;
  readonly highest: number;
  readonly isChecked: (number: number) => boolean;
  /** Whether the fields from the first one without a row are kept as bytes. */
  readonly keepsRest: boolean;
  readonly nameOf: (number: number) => FieldName;
  /** The name of bytes after the last field. */
  readonly end: FieldName;
};

function compileRows(rows: readonly FieldRow[], oddDigits: Padding, frame: Frame) {
  const fields: (FieldCodec | undefined)[] = new Array(frame.highest + 1).fill(undefined);
  for (const [number, , content, prefix, lengthMax, encoding, padding = oddDigits] of rows) {
    const name = frame.nameOf(number);
    const hasBit = number >= frame.lowest && number <= frame.highest && name !== 65;
    assert.ok(hasBit, `field ${name} has no bit of its own`);
    assert.ok(fields[number] === undefined, `field ${name} has two rows`);
    const isChecked = frame.isChecked(number);
    fields[number] = makeCodec(name, isChecked, padding, content, prefix, lengthMax, encoding);
  }
  return { ...frame, fields };
}

function makeCodec(
  field: FieldName,
  isChecked: boolean,
  padding: Padding,
  content: Content,
  prefixName: LengthPrefix,
  lengthMax: number,
  encoding: Encoding,
) {
  const prefix = prefixes[prefixName];
  const isFixed = prefixName === "fixed";
  const { written, unit, perUnit, perCount, perByte } = encodings[encoding];
  const charactersMax = lengthMax * perUnit;
  const charactersPerCount = prefix.isOfBytes ? perByte : perCount;
  // A count of bytes does not say whether the last byte is full; only an F in it does.
  const mayBeFilled = prefix.isOfBytes && unit === "digits";

  const isTooLong = !isFixed && charactersMax > prefix.countMax * charactersPerCount;
  const canBeOdd = unit === "digits" && !(isFixed && charactersMax % 2 === 0);
  const isDigits = content === "n" || content === "z";
  assert.equal(unit === "bytes", content === "b", `field ${field}: bytes go with content b`);
  assert.ok(unit !== "digits" || isDigits, `field ${field}: digits go with content n or z`);
  assert.ok(!isTooLong, `field ${field}: its length does not fit its prefix`);
  assert.ok(!canBeOdd || padding !== "none", `field ${field}: odd digits need padding`);
  assert.ok(!mayBeFilled || padding.endsWith("F"), `field ${field}: counted bytes need padding F`);
  return {
    field,
    isChecked,
    content,
    alphabet: alphabets[content],
    prefix: { ...prefix, form: forms[prefix.written] },
    isFixed,
    charactersMax,
    charactersPerUnit: perUnit,
    charactersPerCount,
    form: forms[written],
    mayBeFilled,
    /**
     * Whether the value is neither checked nor rewritten, as for plain bytes and values that the
     * gateway does not use.
     */
    mayBeAnything: content === "b" ? written === "packed" : !isChecked && content !== "z",
    mayBeLonger: !isChecked && unit === "characters" && !isDigits,
    isPaddedLeft: padding.startsWith("left"),
    paddingDigit: padding.endsWith("F") ? "F" : "0",
  };
}

/**
 * Returns the number of bytes of a value without its prefix. An odd number of packed digits fills
 * its last byte.
 */
export function bytesOf({ form }: FieldCodec, characters: number): number {
  return form.isPacked ? (characters + 1) >> 1 : characters;
}

/**
 * Returns the value of an upper-case hex digit, whose content is already checked. A track's
 * separator = is D.
 */
export function readHexDigit(code: number): number {
  return code < 0x41 ? code - 0x30 : code - 0x37;
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

/**
 * How the characters of a value are written in bytes: one character per byte in ASCII or in a code
 * page of EBCDIC, or two hexadecimal digits per byte.
 */
export type Form = { readonly isPacked: boolean; readonly codePage: CodePage | undefined };

type CodePage = {
  readonly byteOf: Uint8Array;
  readonly characterOf: readonly string[];
};

/** Replaces a byte for which a code page has no printable ASCII character. */
const replacement = "\uFFFD";

/** The printable ASCII characters in EBCDIC: consecutive bytes from the first one on. */
const ebcdic: readonly (readonly [firstByte: number, characters: string])[] = [
  [0x40, " "],
  [0x4b, ".<(+|&"],
  [0x5a, "!$*);"],
  [0x60, "-/"],
  [0x6b, ",%_>?"],
  [0x79, "`:#@'=\""],
  [0x81, "abcdefghi"],
  [0x91, "jklmnopqr"],
  [0xa1, "~stuvwxyz"],
  [0xc0, "{ABCDEFGHI"],
  [0xd0, "}JKLMNOPQR"],
  [0xe0, "\\"],
  [0xe2, "STUVWXYZ"],
  [0xf0, "0123456789"],
];

const forms = {
  ascii: { isPacked: false, codePage: undefined },
  packed: { isPacked: true, codePage: undefined },
  cp037: {
    isPacked: false,
    codePage: makeCodePage([
      [0xba, "[]"],
      [0xb0, "^"],
    ]),
  },
  cp1047: {
    isPacked: false,
    codePage: makeCodePage([
      [0xad, "["],
      [0xbd, "]"],
      [0x5f, "^"],
    ]),
  },
} as const satisfies Record<string, Form>;

/** Makes a code page. The two code pages differ in the brackets and the circumflex. */
function makeCodePage(own: typeof ebcdic): CodePage {
  const byteOf = new Uint8Array(128);
  const characterOf: string[] = new Array(256).fill(replacement);
  for (const [firstByte, text] of [...ebcdic, ...own]) {
    for (let at = 0; at < text.length; at++) {
      byteOf[text.charCodeAt(at)] = firstByte + at;
      characterOf[firstByte + at] = text.charAt(at);
    }
  }
  return { byteOf, characterOf };
}
