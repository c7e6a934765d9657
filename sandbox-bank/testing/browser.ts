/**
 * A browser without scripts, as far as the pages of an ACS need one: it reads their forms and
 * presses their buttons.
 */

export type Form = {
  /** The absolute URL to which the form posts. */
  readonly action: string;
  /** The initial values of its fields. */
  readonly fields: Readonly<Record<string, string>>;
  readonly buttons: readonly Button[];
};

type Button = { readonly name: string; readonly value: string };

export type BrowserPage = {
  readonly status: number;
  /** The URL to which redirects have led. */
  readonly address: string;
  readonly html: string;
  readonly headers: Headers;
  readonly forms: readonly Form[];
};

export async function post(
  url: string,
  fields: Readonly<Record<string, string>>,
): Promise<BrowserPage> {
  const response = await fetch(url, { method: "POST", body: new URLSearchParams(fields) });
  const html = await response.text();
  const { status, headers, url: address } = response;
  return { status, address, html, headers, forms: readForms(html, address) };
}

/** Returns the forms of a page. Their URLs are resolved relative to that of the page. */
export function readForms(html: string, pageUrl?: string): readonly Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(
    ([, tag = "", inside = ""]) => {
      const { action = "" } = readAttributes(tag);
      const inputs = findTags(inside, "input").filter(({ name }) => name !== undefined);
      const buttons = findTags(inside, "button");
      return {
        action: pageUrl === undefined ? action : new URL(action, pageUrl).href,
        fields: Object.fromEntries(inputs.map(({ name = "", value = "" }) => [name, value])),
        buttons: buttons.map(({ name = "", value = "" }) => ({ name, value })),
      };
    },
  );
}

function findTags(html: string, tag: string): readonly Readonly<Record<string, string>>[] {
  return [...html.matchAll(new RegExp(`<${tag}\\b([^>]*)>`, "g"))].map(([, inside = ""]) =>
    readAttributes(inside),
  );
}

function readAttributes(tag: string): Readonly<Record<string, string>> {
  const pairs = [...tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g)];
  return Object.fromEntries(
    pairs.map(([, name = "", value = ""]) => [name, decodeEntities(value)]),
  );
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named.get(name) ?? whole;
    return String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10));
  });
}

const named: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);
