/**
 * The grammar of broken input: a good sample with a few changes at any position. Words of the
 * protocol and its delimiters are inserted, and parts are dropped, doubled, moved and repeated.
 */
import fc from "fast-check";

/** Texts that may break readers of any protocol. */
const anywhere = [
  ...["", " ", "\u0000", "\n", "\r\n", "\t", '"', "'", "\\", "%", "%00", "+", "&", "=", ";", ","],
  ...["0", "-1", "1e309", "NaN", "null", "true", "{}", "[]", "__proto__", "constructor"],
  ...["99999999999999999999", "\u00ff", "\u0080", "\u00c3\u00a9", "\u00ef\u00bb\u00bf", "../"],
  ...[
    "-0",
    "1e-999",
    "\\ud800",
    "\u00ff\u00fe",
    "\u00ed\u00a0\u0080",
    "%61",
    "%C2",
    "%FE%FF",
    "[",
    '{"":',
  ],
];

export const xmlWords = [
  ...["<PARes id='PARes-1'>", "</PARes>", "<Signature>", "<SignedInfo>", "<status>Y</status>"],
  ...["<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE x>", "&#65;", "&amp;", "&x;", ' id="PARes-1"'],
  ...[' xmlns="x"', ' xmlns:a="x"', "a:", "<?x?>", "#PARes-1", "<Extension>", "\r"],
];

export function changed(
  samples: readonly string[],
  words: readonly string[] = [],
  { changesMax = 4 } = {},
): fc.Arbitrary<string> {
  const shape = {
    sample: fc.constantFrom(...samples),
    changes: fc.array(changeOf([...anywhere, ...words], samples), { maxLength: changesMax }),
  };
  const broken = fc
    .record(shape)
    .map(({ sample, changes }) => changes.reduce((text, change) => change(text), sample));
  return fc.oneof({ weight: 12, arbitrary: broken }, { weight: 1, arbitrary: latin(300) });
}

export type Edit = readonly [at: number, length: number, text: string];

/** Changes of a message that is known only when it arrives. */
export function editsWith(placeMax: number, words: readonly string[] = []) {
  const text = fc.oneof(latin(12), fc.constantFrom(...anywhere, ...words));
  const length = fc.oneof(fc.nat(4), fc.nat(300));
  return fc.array(fc.tuple(fc.nat(placeMax), length, text), { maxLength: 3 });
}

export function applyEdit(bytes: Buffer, [at, length, text]: Edit): Buffer {
  const place = at % (bytes.length + 1);
  const rest = bytes.subarray(place + length);
  return Buffer.concat([bytes.subarray(0, place), Buffer.from(text, "latin1"), rest]);
}

/** Text of any characters up to FF. */
export function latin(maxLength: number): fc.Arbitrary<string> {
  return fc
    .uint8Array({ maxLength })
    .map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"));
}

/** JSON that stays JSON: one member anywhere has another value, or is missing. */
export function changedMembers(samples: readonly string[]): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.constantFrom(...anywhere, undefined, null, true, 0, -1, 1.5, 1e21, [], [[]], {}, "Y", "05"),
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(10, 1_000).map(nested),
  );
  const shape = {
    sample: fc.constantFrom(...samples),
    at: fc.noBias(fc.nat(1_000_000)),
    value,
    // A member that occurs twice, of which readers use one or the other.
    twice: fc.constantFrom("", "", "", "first", "last"),
  };
  return fc.record(shape).map(({ sample, at, value: given, twice }) => {
    if (twice !== "") return givenTwice(sample, at, [given ?? null, twice === "first"]);
    const nth = at % countMembers(sample);
    let count = 0;
    const text = JSON.parse(sample, (_, each) => (count++ === nth ? given : each));
    return JSON.stringify(text) ?? "";
  });
}

function nested(depth: number): unknown {
  return Array.from({ length: depth }).reduce((inner) => [inner], 0);
}

function givenTwice(
  sample: string,
  at: number,
  [value, isFirst]: readonly [value: unknown, isFirst: boolean],
): string {
  const names = Object.keys(JSON.parse(sample));
  const member = `${JSON.stringify(names[at % names.length] ?? "")}:${JSON.stringify(value)}`;
  if (names.length === 0) return `{${member},${member}}`;
  return isFirst ? `{${member},${sample.slice(1)}` : `${sample.slice(0, -1)},${member}}`;
}

function countMembers(json: string): number {
  let count = 0;
  JSON.parse(json, () => {
    count += 1;
    return 0;
  });
  return count;
}

type Change = (text: string) => string;

function changeOf(words: readonly string[], samples: readonly string[]): fc.Arbitrary<Change> {
  const place = fc.noBias(fc.nat(1_000_000_000));
  const length = fc.oneof(fc.nat(4), fc.nat(200));
  const word = fc.constantFrom(...words);
  const parts = fc.tuple(place, length, place);
  return fc.oneof(
    fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(flip),
    fc.tuple(place, length, word).map(replace),
    fc.tuple(place, fc.constant(0), word).map(replace),
    fc.tuple(place, length, fc.constant("")).map(replace),
    fc.tuple(place, length, latin(8)).map(replace),
    parts.map(copy),
    fc.tuple(place, length, fc.constantFrom(2, 50, 2_000)).map(repeat),
    fc.tuple(place, fc.constantFrom(...samples), place).map(splice),
    place.map(cut),
  );
}

function flip([at, mask]: readonly [number, number]): Change {
  return (text) => {
    const place = at % (text.length + 1);
    const character = String.fromCharCode(text.charCodeAt(place) ^ mask);
    return place === text.length ? text : text.slice(0, place) + character + text.slice(place + 1);
  };
}

function replace([at, length, word]: readonly [number, number, string]): Change {
  return (text) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + word + text.slice(place + length);
  };
}

function copy([from, length, to]: readonly [number, number, number]): Change {
  return (text) => {
    const start = from % (text.length + 1);
    return replace([to, 0, text.slice(start, start + length)])(text);
  };
}

/** Repeats a part, for readers whose time grows faster than their input. */
function repeat([at, length, times]: readonly [number, number, number]): Change {
  return (text) => {
    const start = at % (text.length + 1);
    const part = text.slice(start, start + length);
    return text.slice(0, start) + part.repeat(times) + text.slice(start + length);
  };
}

function splice([at, other, from]: readonly [number, string, number]): Change {
  return (text) => text.slice(0, at % (text.length + 1)) + other.slice(from % (other.length + 1));
}

function cut(at: number): Change {
  return (text) => text.slice(0, at % (text.length + 1));
}
