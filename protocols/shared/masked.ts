/**
 * The elements of a message for people: each is masked unless it is on its protocol's list of those
 * known to be harmless, and a card number keeps its first six and last four digits.
 */
export const masked = "****";

type Harmless = {
  readonly shown: ReadonlySet<string>;
  /** Addresses, without their queries: those may have tokens. */
  readonly addresses: ReadonlySet<string>;
  readonly cardNumbers: ReadonlySet<string>;
};

export function describeElements(message: object, harmless: Harmless): Record<string, string> {
  const description: Record<string, string> = {};
  add("", message);
  return description;

  function add(path: string, value: unknown): void {
    if (value === undefined || value === null) return;
    if (typeof value !== "object" || Array.isArray(value)) {
      description[path] = show(path, value, harmless);
      return;
    }
    for (const [name, each] of Object.entries(value)) {
      add(path === "" ? name : `${path}.${name}`, each);
    }
  }
}

function show(path: string, value: unknown, { shown, addresses, cardNumbers }: Harmless): string {
  const text = Array.isArray(value) ? value.join(" ") : String(value);
  if (cardNumbers.has(path)) return maskCardNumber(text);
  if (addresses.has(path)) return URL.canParse(text) ? withoutQuery(new URL(text)) : masked;
  return shown.has(path) && /^[ -~]*$/.test(text) && !hasCardNumber.test(text) ? text : masked;
}

function withoutQuery({ origin, pathname }: URL): string {
  return origin + pathname;
}

export function maskCardNumber(pan: string): string {
  return pan.length < 13 ? masked : pan.slice(0, 6) + masked + pan.slice(-4);
}

/** Thirteen or more digits in a row, unless they are the date and time of a purchase. */
const hasCardNumber = /(?<!\d)(?!20\d{12}(?!\d))\d{13,}/;
