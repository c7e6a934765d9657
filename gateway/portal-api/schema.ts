/**
 * Describes the shapes of the portal API's input and output. One description gives the TypeScript
 * type, the check of a value that a browser sends, and the JSON Schema in the OpenAPI document.
 */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The path leads to the faulty value, like `input.amount`. */
export class ShapeFault {
  readonly at: string;
  readonly fault: string;

  constructor(at: string, fault: string) {
    this.at = at;
    this.fault = fault;
  }
}

export type Schema<Value> = {
  readonly json: JsonSchema;
  readonly isOptional: boolean;
  /** `clean` changes texts that people write, for example by masking card numbers. */
  read(given: unknown, at: string, clean?: Clean): Value | ShapeFault;
};
type Clean = (text: string) => string;
export type ValueOf<Shape> = Shape extends Schema<infer Value> ? Value : never;

type Fields = Readonly<Record<string, Schema<unknown>>>;
type OptionalNames<Shape extends Fields> = {
  [Name in keyof Shape]: undefined extends ValueOf<Shape[Name]> ? Name : never;
}[keyof Shape];
type RecordOf<Shape extends Fields> = {
  readonly [Name in Exclude<keyof Shape, OptionalNames<Shape>>]: ValueOf<Shape[Name]>;
} & { readonly [Name in OptionalNames<Shape>]?: ValueOf<Shape[Name]> };

function schema<Value>(json: JsonSchema, read: Schema<Value>["read"]): Schema<Value> {
  return { json, read, isOptional: false };
}

type TextRules = {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** A further check of a text that matches the pattern. */
  readonly check?: (text: string) => boolean;
  /** If true, `clean` leaves the text unchanged, which is a secret or is compared as a whole. */
  readonly isExact?: boolean;
};

export function text(
  meaning = "",
  { min = 0, max = 1_000, pattern, check, isExact = pattern !== undefined }: TextRules = {},
) {
  const json = {
    type: "string",
    minLength: min,
    maxLength: max,
    ...described(meaning),
    ...(pattern && { pattern: pattern.source }),
  };
  return schema<string>(json, (given, at, clean) => {
    if (typeof given !== "string") return new ShapeFault(at, "is no text");
    // PostgreSQL cannot store the character U+0000.
    if (given.includes("\0")) return new ShapeFault(at, "has a character that is none");
    if (given.length < min) return new ShapeFault(at, `has less than ${min} characters`);
    if (given.length > max) return new ShapeFault(at, `has more than ${max} characters`);
    if (pattern?.test(given) === false) return new ShapeFault(at, "does not have its form");
    if (check?.(given) === false) return new ShapeFault(at, "does not exist");
    return clean === undefined || isExact ? given : clean(given);
  });
}

/** For output only, because only the TypeScript compiler checks the words. */
export function word<Word extends string>(meaning = "") {
  // The type parameter makes the compiler check which words handlers return.
  return text(meaning) as Schema<string> as Schema<Word>;
}

/** A text of digits is also accepted, because a URL's query contains only texts. */
export function whole(meaning = "", min = 0, max = Number.MAX_SAFE_INTEGER) {
  const json = { type: "integer", minimum: min, maximum: max, ...described(meaning) };
  return schema<number>(json, (given, at) => {
    const isDigits = typeof given === "string" && /^-?\d{1,16}$/.test(given);
    const number = isDigits ? Number(given) : given;
    if (typeof number !== "number" || !Number.isSafeInteger(number)) {
      return new ShapeFault(at, "is no whole number");
    }
    return number < min || number > max ? new ShapeFault(at, "is out of range") : number;
  });
}

/** A number with decimal places, for output only. */
export function decimal(meaning = "") {
  return schema<number>({ type: "number", ...described(meaning) }, (given, at) =>
    typeof given === "number" ? given : new ShapeFault(at, "is no number"),
  );
}

const lastInstant = 253_402_300_799_999;

export function instant(meaning = "") {
  return whole(`${meaning}${meaning && ", "}in milliseconds since 1970`, 0, lastInstant);
}

/** A file that the browser downloads. It is for output only. */
export function file<File>(mediaType: string) {
  const json = { type: "string", contentMediaType: mediaType };
  // The compiler checks that handlers return a file.
  return schema<File>(json, (given) => given as File);
}

export function flag(meaning = "") {
  return schema<boolean>({ type: "boolean", ...described(meaning) }, (given, at) =>
    typeof given === "boolean" ? given : new ShapeFault(at, "is neither true nor false"),
  );
}

export function oneOf<const Word extends string>(words: readonly Word[], meaning = "") {
  return schema<Word>({ type: "string", enum: words, ...described(meaning) }, (given, at) => {
    const word = words.find((each) => each === given);
    return word ?? new ShapeFault(at, `is none of ${words.join(", ")}`);
  });
}

/** In a URL's query, commas separate the items of the list. */
export function list<Item>(item: Schema<Item>, max = 1_000) {
  const json = { type: "array", items: item.json, maxItems: max };
  return schema<readonly Item[]>(json, (given, at, clean) => {
    const items = typeof given === "string" ? given.split(",") : given;
    if (!Array.isArray(items)) return new ShapeFault(at, "is no list");
    if (items.length > max) return new ShapeFault(at, `has more than ${max} items`);
    const read = items.map((each, index) => item.read(each, `${at}[${index}]`, clean));
    const fault = read.find((each) => each instanceof ShapeFault);
    return fault instanceof ShapeFault ? fault : (read as Item[]);
  });
}

export function record<Shape extends Fields>(shape: Shape): Schema<RecordOf<Shape>> {
  const names = Object.keys(shape);
  const json = {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, shape[name]?.json])),
    required: names.filter((name) => shape[name]?.isOptional === false),
    additionalProperties: false,
  };
  return schema(json, (given, at, clean) => {
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
      return new ShapeFault(at, "is no object");
    }
    const sent = new Map<string, unknown>(Object.entries(given));
    const unknown = [...sent].find(([name, value]) => value !== undefined && !names.includes(name));
    if (unknown !== undefined) return new ShapeFault(`${at}.${unknown[0]}`, "is not known");
    const result: [string, unknown][] = [];
    for (const name of names) {
      const [of, value] = [shape[name], sent.get(name)];
      if (of === undefined || (value === undefined && of.isOptional)) continue;
      if (value === undefined) return new ShapeFault(`${at}.${name}`, "is missing");
      const read = of.read(value, `${at}.${name}`, clean);
      if (read instanceof ShapeFault) return read;
      result.push([name, read]);
    }
    // The object has the type `RecordOf<Shape>`, because each field was read with its own schema.
    return Object.fromEntries(result) as RecordOf<Shape>;
  });
}

export function each<Name extends string, Shape>(names: readonly Name[], shape: Shape) {
  // The compiler cannot see that the object has an entry for every name.
  return Object.fromEntries(names.map((name) => [name, shape])) as Readonly<Record<Name, Shape>>;
}

/** An object whose field names are not known in advance, such as counts by currency. */
export function dictionary<Value>(of: Schema<Value>, meaning = "") {
  const json = { type: "object", additionalProperties: of.json, ...described(meaning) };
  return schema<Readonly<Record<string, Value>>>(json, (given, at) => {
    if (typeof given !== "object" || given === null) return new ShapeFault(at, "is no object");
    for (const [name, value] of Object.entries(given)) {
      const read = of.read(value, `${at}.${name}`);
      if (read instanceof ShapeFault) return read;
    }
    return given as Readonly<Record<string, Value>>;
  });
}

export function either<One, Other>(one: Schema<One>, other: Schema<Other>) {
  const json = { anyOf: [one.json, other.json] };
  return schema<One | Other>(json, (given, at, clean) => {
    const read = one.read(given, at, clean);
    return read instanceof ShapeFault ? other.read(given, at, clean) : read;
  });
}

export function optional<Value>(of: Schema<Value>): Schema<Value | undefined> {
  return { ...of, isOptional: true };
}

/** Not checked here, because libraries in the browser and on the server write and read it. */
export function anything(meaning: string) {
  return schema<object>({ type: "object", ...described(meaning) }, (given, at) =>
    typeof given === "object" && given !== null ? given : new ShapeFault(at, "is no object"),
  );
}

function described(meaning: string) {
  return meaning === "" ? {} : { description: meaning };
}
