/** Pages that nobody stays on: one hands a form on, the other says why there is nothing here. */
import { writeHidden } from "./challenge-page.ts";
import { escapeHtml, type Page } from "./page.ts";

/** Posts itself to the address; without scripts a button does it. */
export function makeForwardPage(
  title: string,
  address: string,
  fields: Readonly<Record<string, string>>,
): Page {
  const body = `<h1>${escapeHtml(title)}</h1>
<form id="forward" method="post" action="${escapeHtml(address)}">
${writeHidden(fields)}
<noscript><div class="buttons"><button class="main">Continue</button></div></noscript>
</form>`;
  const script = 'document.getElementById("forward").submit()';
  return { title, body, script, postsTo: "requestor" };
}

export function makeRefusalPage(status: number, sentence: string): Page {
  const body = `<h1>This cannot be shown</h1>\n<p>${escapeHtml(sentence)}</p>`;
  return { status, title: "This cannot be shown", body, postsTo: "acs" };
}
