/**
 * Plays a cardholder who confirms everything, for `gw pay --pass`: a browser without scripts that
 * opens the gateway's page, fills in the sandbox's code and presses buttons until no form is left.
 * Only the sandbox's issuer accepts this code.
 */

const rightCode = "1234";
const pagesMax = 12;

export async function passAuthentication(address: string): Promise<void> {
  let page = await open(address);
  for (let at = 0; at < pagesMax; at += 1) {
    const form = findForm(page);
    if (form === undefined) return;
    page = await open(form.action, form.fields);
  }
}

type Page = { readonly url: string; readonly html: string };

async function open(url: string, fields?: Readonly<Record<string, string>>): Promise<Page> {
  const sent = fields && { method: "POST", body: new URLSearchParams(fields) };
  const answer = await fetch(url, sent);
  return { url: answer.url, html: await answer.text() };
}

/** Returns the first form, with the code filled in. */
function findForm({ url, html }: Page) {
  const [, tag = "", inside = ""] = /<form\b([^>]*)>([\s\S]*?)<\/form>/.exec(html) ?? [];
  if (tag === "") return undefined;
  const inputs = [...inside.matchAll(/<input\b([^>]*)>/g)].map(([, each = ""]) => readTag(each));
  const named = inputs.map(({ name = "", value = "" }) => [name, value] as const);
  const fields = Object.fromEntries(named.filter(([name]) => name !== ""));
  const asked = "code" in fields ? { code: rightCode, action: "confirm" } : {};
  return {
    action: new URL(readTag(tag)["action"] ?? "", url).href,
    fields: { ...fields, ...asked },
  };
}

function readTag(tag: string): Readonly<Record<string, string>> {
  const pairs = [...tag.matchAll(/(?<![\w-])([\w-]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, decode(value)]));
}

function decode(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
