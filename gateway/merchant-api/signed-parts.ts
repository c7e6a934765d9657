/**
 * The values that an operation's checksum covers, in their order, and the variants that usual
 * mistakes make of them. The key is not among them: it always comes last and is never shown.
 */
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { textOf } from "./control.ts";
import type { ControlTerm, Sent } from "./operation.ts";

/** `name` is the field, or `{id}` for the id in the path. An amount is in minor units. */
export type SignedPart = { readonly name: string; readonly value: string };

/** `detail` names the value or the field and is never secret. */
export type Mistake = { readonly kind: MistakeKind; readonly detail: string };
type Variant = { readonly mistakes: readonly Mistake[]; readonly parts: Parts };
type Parts = readonly SignedPart[];

const mistakeKinds = [
  ...(["amount_form", "other_id", "no_id", "login_for_id", "missing", "order", "extra"] as const),
  ...(["untrimmed", "url_encoded", "letter_case", "separator", "line_end", "latin1"] as const),
  ...(["key_first", "no_key", "key_form", "key_as_control", "other_key", "other_login"] as const),
  ...(["digest", "base64", "oauth_only"] as const),
];
export type MistakeKind = (typeof mistakeKinds)[number];

/** The limit on ids that are tried in place of the right one. */
const idsMax = 20;
const permutedMax = 4;

export function signedParts(
  terms: readonly ControlTerm[],
  sent: Sent,
  entryPoint: EntryPoint,
): Parts {
  return terms.flatMap((term): Parts => {
    if (term === "{id}" || term === "{id?}") return [{ name: "{id}", value: entryPoint.id }];
    if (typeof term === "string") return [{ name: term, value: sent.get(term) ?? "" }];
    if ("moneyIfSent" in term) {
      if ((sent.get(term.moneyIfSent) ?? "") === "") return [];
      const currency = { name: "currency", value: sent.get("currency") ?? "" };
      return [minorPart(term.moneyIfSent, sent, entryPoint), currency];
    }
    return [minorPart(term.minorUnitsOf, sent, entryPoint)];
  });
}

/** The value is empty if the amount cannot be read, which is a fault of its own. */
function minorPart(field: string, sent: Sent, entryPoint: EntryPoint): SignedPart {
  const readable = new Map([...sent, [field, (sent.get(field) ?? "").replace(",", ".")]]);
  const minor = textOf({ minorUnitsOf: field }, readable, entryPoint);
  return { name: field, value: minor instanceof Failure ? "" : minor };
}

export type Known = {
  readonly sent: Sent;
  readonly raw: Sent;
  readonly login: string;
  readonly otherIds: readonly string[];
};

/** The right parts come first, then a single mistake, then the usual pairs of mistakes. */
export function variantsOf(parts: Parts, known: Known): readonly Variant[] {
  const plain = { mistakes: [], parts };
  const ids = idVariants(parts, known);
  const amounts = amountVariants(parts, known.sent);
  const both = amounts.flatMap((amount) =>
    idVariants(amount.parts, known).map((id) => ({
      mistakes: [...amount.mistakes, ...id.mistakes],
      parts: id.parts,
    })),
  );
  return [
    plain,
    ...amounts,
    ...ids,
    ...textVariants(parts, known),
    ...structures(parts, known),
    ...both,
  ];
}

function one(kind: MistakeKind, detail: string, parts: Parts): Variant {
  return { mistakes: [{ kind, detail }], parts };
}

function replaced(parts: Parts, name: string, value: string): Parts {
  return parts.map((part) => (part.name === name ? { name, value } : part));
}

/** Returns the forms in which amounts are signed by mistake instead of minor units. */
export function amountVariants(parts: Parts, sent: Sent): readonly Variant[] {
  const amount = parts.find(({ name }) => name === "amount");
  if (amount === undefined) return [];
  const asSent = sent.get("amount") ?? "";
  const dotted = asSent.replace(",", ".");
  const digits = findCurrency(sent.get("currency") ?? "")?.exponent ?? 2;
  const number = Number(dotted);
  const isNumber = /^\d{1,12}(\.\d{1,6})?$/.test(dotted);
  const fixed = isNumber ? number.toFixed(digits) : dotted;
  const forms = [
    ...[asSent, dotted, dotted.replace(".", ","), fixed, fixed.replace(".", ",")],
    ...[fixed.replace(/\.?(?<!0)0+$/, ""), dotted.replace(".", ""), dotted.split(".")[0] ?? ""],
    ...(isNumber
      ? [
          number.toFixed(2),
          String(Math.floor(number * 10 ** digits)),
          `${Math.round(number * 100)}`,
        ]
      : []),
  ];
  const others = new Set(forms.filter((form) => form !== amount.value && form !== ""));
  return [...others].map((form) => one("amount_form", form, replaced(parts, "amount", form)));
}

function idVariants(parts: Parts, { login, otherIds }: Known): readonly Variant[] {
  if (!parts.some(({ name }) => name === "{id}")) return [];
  const others = otherIds.slice(0, idsMax);
  return [
    one(
      "no_id",
      "",
      parts.filter(({ name }) => name !== "{id}"),
    ),
    one("login_for_id", "", replaced(parts, "{id}", login)),
    ...others.map((id) => one("other_id", id, replaced(parts, "{id}", id))),
  ];
}

function textVariants(parts: Parts, { raw, sent }: Known): readonly Variant[] {
  const map = (write: (value: string, name: string) => string) =>
    parts.map(({ name, value }) => ({ name, value: write(value, name) }));
  const isField = (name: string) => name !== "{id}" && name !== "amount";
  const emptied = parts.filter(({ name, value }) => isField(name) && value === "");
  return [
    one(
      "untrimmed",
      "",
      map((value, name) => (isField(name) ? (raw.get(name) ?? value) : value)),
    ),
    one("url_encoded", "", map(encodeURIComponent)),
    one(
      "url_encoded",
      "",
      map((value) => new URLSearchParams([["", value]]).toString().slice(1)),
    ),
    one(
      "letter_case",
      "",
      map((value) => value.toLowerCase()),
    ),
    one(
      "letter_case",
      "",
      map((value) => value.toUpperCase()),
    ),
    // A value that was not sent is often signed as one of these words.
    ...emptied.flatMap(({ name }) =>
      ["null", "undefined", "0"].map((word) =>
        one("extra", `${name}=${word}`, replaced(parts, name, word)),
      ),
    ),
    ...(parts.some(({ name }) => name === "amount") && !hasName(parts, "currency")
      ? [one("extra", "currency", after(parts, "amount", "currency", sent.get("currency") ?? ""))]
      : []),
  ];
}

/** Returns variants with values left out, added or in another order. */
function structures(parts: Parts, { login }: Known): readonly Variant[] {
  const orders = parts.length <= permutedMax ? permutations(parts) : neighbours(parts);
  const filled = parts.filter(({ name, value }) => name !== "{id}" && value !== "");
  const added = hasName(parts, "login") ? [] : [{ name: "login", value: login }, ...parts];
  return [
    ...filled.map(({ name }) =>
      one(
        "missing",
        name,
        parts.filter((part) => part.name !== name),
      ),
    ),
    ...(added.length === 0 ? [] : [one("extra", "login", added)]),
    ...orders
      .slice(1)
      .map((order) => one("order", order.map(({ name }) => name).join(", "), order)),
  ];
}

function hasName(parts: Parts, wanted: string): boolean {
  return parts.some(({ name }) => name === wanted);
}

function after(parts: Parts, place: string, name: string, value: string): Parts {
  return parts.flatMap((part) => (part.name === place ? [part, { name, value }] : [part]));
}

/** The first permutation is the list itself. */
function permutations(parts: Parts): readonly Parts[] {
  if (parts.length <= 1) return [parts];
  return parts.flatMap((first, at) =>
    permutations(parts.filter((_, index) => index !== at)).map((rest) => [first, ...rest]),
  );
}

function neighbours(parts: Parts): readonly Parts[] {
  const swapped = parts.slice(1).map((part, at) => {
    const before = parts[at];
    return parts.map((each, index) =>
      index === at ? part : index === at + 1 && before !== undefined ? before : each,
    );
  });
  return [parts, ...swapped, parts.toReversed()];
}
