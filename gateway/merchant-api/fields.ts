/**
 * The kinds of request field. Each knows how the documents write its length and type, and reads its
 * value: a fault is a short sentence for the merchant that never repeats the value.
 */
import { isIP } from "node:net";
import { isNumericId, isSerialNumber } from "../values/ids.ts";
import { type Currency, findCurrency, isCountry } from "../values/iso-codes.ts";

export type Necessity = "mandatory" | "optional" | "conditional";

export type Field<Value> = {
  readonly type: string;
  readonly necessity: Necessity;
  readonly documentation: string;
  readonly read: (text: string) => Value | Fault;
};

export class Fault {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export type AnyField = Field<unknown>;
export type Fields = Readonly<Record<string, AnyField>>;

/** What a handler gets: absent values are possible only where the field is not mandatory. */
export type Values<Request extends Fields> = {
  readonly [Name in keyof Request]: Request[Name] extends Optional<infer Value>
    ? Value | undefined
    : Request[Name] extends Field<infer Value>
      ? Value
      : never;
};

export type Optional<Value> = Field<Value> & { readonly necessity: "optional" | "conditional" };

/** May be absent. */
export function optional<Value>(field: Field<Value>): Optional<Value> {
  return { ...field, necessity: "optional" };
}

/** Necessary in some requests only: the handler's own checks say in which. */
export function conditional<Value>(field: Field<Value>): Optional<Value> {
  return { ...field, necessity: "conditional" };
}

/** One line of text: no control characters at all. */
export function line(max: number, documentation: string): Field<string> {
  return field(`${max}/String`, documentation, (text) => {
    if (isLonger(text, max)) return new Fault(`longer than ${max} characters`);
    return controlCharacters.test(text) ? new Fault("control characters") : text;
  });
}

/** Free text, in which tabs and line ends are allowed. */
export function freeText(max: number, documentation: string): Field<string> {
  const size = max === 65_536 ? "64k" : String(max);
  return field(`${size}/String`, documentation, (text) => {
    if (isLonger(text, max)) return new Fault(`longer than ${max} characters`);
    return controlsInText.test(text) ? new Fault("control characters") : text;
  });
}

export function digits(min: number, max: number, documentation: string): Field<string> {
  const size = min === max ? String(max) : `${min}-${max}`;
  return pattern(`${size}/Numeric`, new RegExp(`^\\d{${min},${max}}$`), documentation);
}

/** Any of these words, exactly so. */
export function choice<Word extends string>(
  words: readonly Word[],
  documentation: string,
): Field<Word> {
  const longest = Math.max(...words.map(({ length }) => length));
  return field(`${longest}/String`, documentation, (text) => {
    const found = words.find((word) => word === text);
    return found ?? new Fault(`not one of ${words.join(", ")}`);
  });
}

/** The decimal as it stands: what it is worth depends on the currency beside it. */
export function amount(documentation: string): Field<string> {
  return pattern("10/Numeric", /^(?=.{1,10}$)\d+(\.\d+)?$/, documentation);
}

export function currency(documentation: string): Field<Currency> {
  return field("3/String", documentation, (text) => {
    return findCurrency(text) ?? new Fault("not a currency of ISO 4217");
  });
}

export function email(max: number, documentation: string): Field<string> {
  return field(`${max}/String`, documentation, (text) => {
    if (isLonger(text, max)) return new Fault(`longer than ${max} characters`);
    return addressSyntax.test(text) ? text : new Fault("not an email address");
  });
}

export function ipAddress(documentation: string): Field<string> {
  return field("45/String", documentation, (text) => {
    return isIP(text) === 0 || text.includes("%") ? new Fault("not an IP address") : text;
  });
}

export function country(documentation: string): Field<string> {
  return field("2/String", documentation, (text) => {
    return isCountry(text) ? text : new Fault("not a country code of ISO 3166-1 alpha-2");
  });
}

export function phone(documentation: string): Field<string> {
  return pattern("15/String", /^[\d+\-() ]{1,15}$/, documentation);
}

export function url(documentation: string, max = 1024): Field<string> {
  return field(`${max}/String`, documentation, (text) => {
    if (isLonger(text, max)) return new Fault(`longer than ${max} characters`);
    const parsed = URL.parse(text);
    const absolute = parsed !== null && /^https?:\/\/[^/]/i.test(text);
    return absolute && !/[\s\\]/.test(text) ? text : new Fault("not an absolute http(s) URL");
  });
}

export function orderId(documentation: string): Field<string> {
  return field("20/Numeric", documentation, (text) => {
    return isNumericId(text) ? text : new Fault("not an order id");
  });
}

export function cardRefId(documentation: string): Field<string> {
  return field("20/String", documentation, (text) => {
    return isNumericId(text) ? text : new Fault("not a card reference id");
  });
}

export function serialNumber(documentation: string): Field<string> {
  return field("36/String", documentation, (text) => {
    return isSerialNumber(text) ? text.toLowerCase() : new Fault("not a serial number");
  });
}

/** An id as 3-D Secure writes them. */
export function uuid(documentation: string): Field<string> {
  return field("36/String", documentation, (text) => {
    return isSerialNumber(text) ? text.toLowerCase() : new Fault("not a UUID");
  });
}

export function pattern(type: string, form: RegExp, documentation: string): Field<string> {
  return field(type, documentation, (text) => {
    return form.test(text) ? text : new Fault(`not of the form ${type}`);
  });
}

/** Lengths count code points, not UTF-16 units, of which a text never has fewer. */
function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  let count = 0;
  for (const _ of text) count += 1;
  return count > max;
}

function field<Value>(
  type: string,
  documentation: string,
  read: (text: string) => Value | Fault,
): Field<Value> {
  return { type, necessity: "mandatory", documentation, read };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlsInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const addressSyntax =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+$/;
