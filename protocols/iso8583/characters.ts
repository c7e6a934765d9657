/**
 * How the characters of a value stand in bytes: one character per byte in ASCII or in a code page
 * of EBCDIC, or two hexadecimal digits per byte.
 */
export type Form = { readonly isPacked: boolean; readonly codePage: CodePage | undefined };

type CodePage = {
  readonly byteOf: Uint8Array;
  readonly characterOf: readonly string[];
};

/** A byte that a code page has no printable ASCII character for. */
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

export const forms = {
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

/** The two code pages differ in the brackets and the circumflex. */
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
