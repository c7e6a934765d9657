/**
 * The kinds of request fields, with length and type for the documentation. A fault is a short
 * sentence for the merchant that never quotes the value. Texts are stored and shown, so a card
 * number in them is masked (decision 0040).
 */
import { isIP } from "node:net";
import { parseEmail } from "../values/email.ts";
import { isNumericId, isSerialNumber } from "../values/ids.ts";
import { type Currency, findCurrency, isCountry } from "../values/iso-codes.ts";
import { hasCardNumber, maskCardNumbers } from "../values/mask-card-numbers.ts";
import { isDay } from "../values/time.ts";

export type Field<Value> = {
  readonly type: string;
  readonly necessity: "mandatory" | "optional" | "conditional";
  readonly documentation: string;
  readonly words?: readonly string[];
  readonly read: (text: string) => Value | Fault;
};

export class Fault {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** Only fields that are not mandatory may be absent. */
export type Values<Request extends Fields> = {
  readonly [Name in keyof Request]: Request[Name] extends Optional<infer Value>
    ? Value | undefined
    : Request[Name] extends Field<infer Value>
      ? Value
      : never;
};

export type Optional<Value> = Field<Value> & { readonly necessity: "optional" | "conditional" };

export function optional<Value>(field: Field<Value>): Optional<Value> {
  return { ...field, necessity: "optional" };
}

/** An invalid value is ignored: it is never a reason to refuse a payment. */
export function ignorable<Value>(field: Field<Value>): Optional<Value | undefined> {
  const { type, documentation } = field;
  return {
    type,
    documentation: `${documentation}; ignored when it cannot be read`,
    necessity: "optional",
    read(text) {
      const value = field.read(text);
      return value instanceof Fault ? undefined : value;
    },
  };
}

/** The operation's rules decide which requests require the field. */
export function conditional<Value>(field: Field<Value>): Optional<Value> {
  return { ...field, necessity: "conditional" };
}

/** The text has no control characters. */
export function line(max: number, documentation: string): Field<string> {
  return masked(unmaskedLine(max, documentation));
}

/** A checksum is compared and not stored, so nothing in it is masked. */
export function checksum(max = 40): Field<string> {
  return unmaskedLine(max, "checksum");
}

function unmaskedLine(max: number, documentation: string): Field<string> {
  const isLine = (text: string) => !controlCharacters.test(text);
  return limited(max, documentation, isLine, "control characters");
}

/** The text may have tabs and line ends. */
export function freeText(max: number, documentation: string): Field<string> {
  return masked(message(max, documentation));
}

/** A wallet's or an issuer's message. It is not stored, so nothing in it is masked. */
export function message(max: number, documentation: string): Field<string> {
  const isText = (text: string) => !controlsInText.test(text);
  return limited(max, documentation, isText, "control characters");
}

/**
 * The merchant's order id is compared verbatim, so nothing in it is masked. One numeric id in ten
 * could be a card number, so none is refused for that.
 */
export function clientOrderId(documentation: string): Field<string> {
  return unmaskedLine(128, documentation);
}

/**
 * Makes the field for a network's id of a payment, which is sent to issuers verbatim, so that
 * nothing in it is masked. Only a number with a network's prefix and length is refused: one id of
 * 15 digits in ten would pass for a card number of an unknown network.
 */
export function networkId(documentation: string): Field<string> {
  const { read, ...rest } = pattern("64/String", /^[!-~]{1,64}$/, documentation);
  return { ...rest, read: (text) => (hasCardNumber(text) ? new Fault(hasNumber) : read(text)) };
}

export const hasNumber = "contains the card number";

export function email(max: number, documentation: string): Field<string> {
  const isAddress = (text: string) => parseEmail(text) !== undefined;
  const { read, ...rest } = masked(limited(max, documentation, isAddress, "not an email address"));
  return {
    ...rest,
    read(text) {
      const value = read(text);
      return value instanceof Fault ? value : (parseEmail(value) ?? value);
    },
  };
}

export function url(documentation: string, max = 1024): Field<string> {
  return limited(max, documentation, isAbsoluteUrl, "not an absolute http(s) URL");
}

export function pattern(type: string, form: RegExp, documentation: string): Field<string> {
  return checked(type, documentation, (text) => form.test(text), `not of the form ${type}`);
}

export function digits(min: number, max: number, documentation: string): Field<string> {
  const size = min === max ? String(max) : `${min}-${max}`;
  return pattern(`${size}/Numeric`, new RegExp(`^\\d{${min},${max}}$`), documentation);
}

/** The value is the decimal as sent, because its meaning depends on the currency. */
export function amount(documentation: string): Field<string> {
  return checked(
    "10/Numeric",
    documentation,
    (text) => amountSyntax.test(text) && text.length - zerosAtEnd(text) <= 10,
    "not of the form 10/Numeric",
  );
}

const amountSyntax = /^\d{1,10}(\.\d{1,10})?$/;

/** Shops send values of a database column like 12.3400, so zeros at the end are permitted. */
function zerosAtEnd(amount: string): number {
  return amount.includes(".") ? (/(?<!0)0*$/.exec(amount)?.[0].length ?? 0) : 0;
}

/** Any characters are permitted, because shops send extensions and words. */
export function phone(documentation: string): Field<string> {
  const number = unmaskedLine(15, documentation);
  // A text that begins with a country code is a phone number, even if it looks like a card number.
  return masked(number, (text) => !/^(\+|00)/.test(text));
}

export function ipAddress(documentation: string): Field<string> {
  const isAddress = (text: string) => isIP(text) !== 0 && !text.includes("%");
  return checked("45/String", documentation, isAddress, "not an IP address");
}

export function day(documentation: string): Field<string> {
  return checked("10/String", documentation, isDay, "not a day like 2030-12-31");
}

export function country(documentation: string): Field<string> {
  const sentence = "not a country code of ISO 3166-1 alpha-2";
  return checked("2/String", documentation, isCountry, sentence);
}

export function orderId(documentation: string): Field<string> {
  return checked("20/Numeric", documentation, isNumericId, "not an order id");
}

export function cardRefId(documentation: string): Field<string> {
  return checked("20/String", documentation, isNumericId, "not a card reference id");
}

export function choice<Word extends string>(
  words: readonly Word[],
  documentation: string,
): Field<Word> {
  const longest = Math.max(...words.map(({ length }) => length));
  const read = (text: string) => {
    const found = words.find((word) => word === text);
    return found ?? new Fault(`not one of ${words.join(", ")}`);
  };
  return { ...field(`${longest}/String`, documentation, read), words };
}

export function currency(documentation: string): Field<Currency> {
  return field("3/String", documentation, (text) => {
    return findCurrency(text) ?? new Fault("not a currency of ISO 4217");
  });
}

/** A UUID, such as serial numbers and the ids of 3-D Secure, is read in lower case. */
export function uuid(documentation: string, sentence = "not a UUID"): Field<string> {
  return field("36/String", documentation, (text) => {
    return isSerialNumber(text) ? text.toLowerCase() : new Fault(sentence);
  });
}

function masked(
  { read, ...rest }: Field<string>,
  applies: (text: string) => boolean = () => true,
): Field<string> {
  return {
    ...rest,
    read(text) {
      const value = read(text);
      return value instanceof Fault || !applies(value) ? value : maskCardNumbers(value);
    },
  };
}

function limited(
  max: number,
  documentation: string,
  isGood: (text: string) => boolean,
  sentence: string,
): Field<string> {
  const size = max === 65_536 ? "64k" : String(max);
  return field(`${size}/String`, documentation, (text) => {
    // Code points are only counted in long texts: a text has at least as many UTF-16 units.
    const isLonger = text.length > max && [...text].length > max;
    if (isLonger) return new Fault(`longer than ${max} characters`);
    return isGood(text) ? text : new Fault(sentence);
  });
}

function checked(
  type: string,
  documentation: string,
  isGood: (text: string) => boolean,
  sentence: string,
): Field<string> {
  return field(type, documentation, (text) => (isGood(text) ? text : new Fault(sentence)));
}

function field<Value>(
  type: string,
  documentation: string,
  read: (text: string) => Value | Fault,
): Field<Value> {
  return { type, necessity: "mandatory", documentation, read };
}

function isAbsoluteUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\/[^/]/i.test(text) && !/[\s\\]/.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the check looks for them
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the check looks for them
const controlsInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
