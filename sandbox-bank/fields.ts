/**
 * Reads a JSON body by a table of its fields. A name that is not in the table is refused, because a
 * mistyped "defect" would otherwise mint a valid token.
 */
import { BadRequest } from "./http.ts";
import { numberCurrency } from "./money.ts";

export type Field<Value> = {
  /** Completes the sentence `"amount" takes …`. */
  readonly takes: string;
  /** Returns undefined for a value that is refused. */
  readonly read: (value: unknown) => Value | undefined;
};

type Fields = Readonly<Record<string, Field<unknown>>>;
export type ValueOf<Row> = Row extends Field<infer Value> ? Value : never;

export type FieldTable = { readonly required: Fields; readonly optional: Fields };

export type FieldValues<Table extends FieldTable> = {
  readonly [Name in keyof Table["required"]]: ValueOf<Table["required"][Name]>;
} & {
  readonly [Name in keyof Table["optional"]]?: ValueOf<Table["optional"][Name]>;
};

export function readFields<Table extends FieldTable>(
  body: unknown,
  { required, optional }: Table,
): FieldValues<Table> | BadRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return new BadRequest("The body must be a JSON object.");
  }
  const fields = new Map(Object.entries({ ...required, ...optional }));
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    const field = fields.get(name);
    if (field === undefined) {
      const known = [...fields.keys()].join(", ");
      return new BadRequest(
        `There is no ${JSON.stringify(name.slice(0, 40))}; there are ${known}.`,
      );
    }
    const read = readField(`"${name}"`, field, value);
    if (read instanceof BadRequest) return read;
    values.set(name, read);
  }
  for (const [name, { takes }] of Object.entries(required)) {
    if (!values.has(name)) return new BadRequest(`"${name}" is missing; it takes ${takes}.`);
  }
  // Every value was read by the row of its name, so the type holds.
  return Object.fromEntries(values) as FieldValues<Table>;
}

export function readField<Value>(
  subject: string,
  { read, takes }: Field<Value>,
  value: unknown,
): Value | BadRequest {
  const found = read(value);
  return found === undefined ? new BadRequest(`${subject} takes ${takes}.`) : found;
}

export function text(form: RegExp, takes: string): Field<string> {
  return {
    takes,
    read: (value) => (typeof value === "string" && form.test(value) ? value : undefined),
  };
}

export const flag: Field<boolean> = {
  takes: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

export function number(to: number): Field<number> {
  return {
    takes: `a number from 0 to ${to}`,
    read: (value) => (typeof value === "number" && value >= 0 && value <= to ? value : undefined),
  };
}

/** Makes a field for a JSON number, or digits. */
export function whole(from: number, to: number, takes: string): Field<number> {
  return {
    takes,
    read(value) {
      const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
      if (typeof number !== "number" || !Number.isSafeInteger(number)) return undefined;
      return number >= from && number <= to ? number : undefined;
    },
  };
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): Field<Choice> {
  return {
    takes: `one of ${choices.map((choice) => `"${choice}"`).join(", ")}`,
    read: (value) => choices.find((choice) => choice === value),
  };
}

export function orNull<Value>({ takes, read }: Field<Value>): Field<Value | null> {
  return { takes: `${takes}, or null`, read: (value) => (value === null ? null : read(value)) };
}

/** A currency of ISO 4217 by its code or number. The result is the number. */
const currency: Field<string> = {
  takes: "a currency of ISO 4217: three capital letters or three digits",
  read(value) {
    const number = typeof value === "string" ? numberCurrency(value) : "";
    return /^\d{3}$/.test(number) ? number : undefined;
  },
};

export const cardFields = {
  pan: text(/^\d{12,19}$/, "12 to 19 digits"),
  expirationYear: whole(2000, 2099, "a year of four digits, 2000 to 2099"),
  expirationMonth: whole(1, 12, "a month, 1 to 12"),
};

export const paymentFields = {
  amount: whole(0, 999_999_999_999, "a whole number of minor units"),
  currency,
};

/** A time. Certificates and signatures only write years of four digits. */
export const timestamp = whole(0, Date.UTC(10_000, 0) - 1, "milliseconds since 1970");
export const identifier = text(/^[!-~]{1,255}$/, "1 to 255 visible characters");
export const eciIndicator = text(/^\d{0,2}$/, "up to two digits");
