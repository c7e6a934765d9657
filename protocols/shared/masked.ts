/**
 * Describes the elements of a message for people. Each is masked unless it is on its protocol's
 * list of harmless ones, and a card number keeps its first six and last four digits.
 */
export const masked = "****";

type Harmless = {
  readonly shown: ReadonlySet<string>;
  /** URLs, which are shown without their queries, because those may contain tokens. */
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
      if (isName.test(name)) add(path === "" ? name : `${path}.${name}`, each);
    }
  }
}

function show(path: string, value: unknown, { shown, addresses, cardNumbers }: Harmless): string {
  const text = Array.isArray(value) ? value.join(" ") : String(value);
  if (cardNumbers.has(path)) return maskCardNumber(text);
  const harmless = addresses.has(path) ? withoutQuery(text) : shown.has(path) ? text : masked;
  return /^[ -~]*$/.test(harmless) && !hasCardNumber.test(harmless) ? harmless : masked;
}

function withoutQuery(text: string): string {
  const { origin, pathname } = URL.parse(text) ?? {};
  return origin === undefined ? masked : `${origin}${pathname}`;
}

export function maskCardNumber(pan: string): string {
  return pan.length < 13 ? masked : pan.slice(0, 6) + masked + pan.slice(-4);
}

/** The form of an element's name. Other names may be values in disguise and are omitted. */
const isName = /^(?!.*\d{13})[A-Za-z]\w{0,63}$/;

/** Matches thirteen or more digits in a row, unless they are the date and time of a purchase. */
const hasCardNumber = /(?<!\d)(?!20\d{12}(?!\d))\d{13,}/;
