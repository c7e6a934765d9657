/**
 * Hosted fields in the shop's own page, which has another origin and a strict policy: paying,
 * faults, focus and styles; and a page that attackers have taken over, which gets nothing of the
 * card.
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertNoViolations } from "../support/browser/accessibility.ts";
import { openWindow, takePicture, test } from "../support/browser/browser.ts";
import { prepareCheckout, startShop } from "../support/browser/checkout.ts";
import { readEverything } from "../support/expect.ts";
import { idOf, paidBy, switchOn, ticketFor } from "../support/hosted-fields.ts";
import { until } from "../support/until.ts";

const prepared = prepareCheckout();

let listed: Promise<void> | undefined;

/** Switches hosted fields on for the shop, when the first test runs. */
function listOrigins(): Promise<void> {
  const { world, shop } = prepared();
  listed ??= switchOn(world, [shop.url]);
  return listed;
}

type PageOptions = {
  readonly gateway: string;
  readonly endpoint: string;
  /** Runs before the gateway's script. */
  readonly before?: string;
  readonly language?: string;
  readonly dark?: boolean;
};

/** A checkout page as a shop would write it. `heard` has what the script told the page. */
function shopPage({ gateway, endpoint, before = "", language = "en", dark }: PageOptions): string {
  const policy =
    `default-src 'none'; script-src 'nonce-own' ${gateway}; style-src 'nonce-own'; ` +
    `frame-src ${gateway}; img-src data:`;
  const [ink, paper] = dark ? ["#f5f5f4", "#1c1917"] : ["#1c1917", "#ffffff"];
  return `<!doctype html><html lang="${language}"><head><title>Shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="icon" href="data:,">
<style nonce="own">
body { font: 1rem/1.5 system-ui; color: ${ink}; background: ${paper}; margin: 1rem;
  max-width: 24rem }
label { display: block; margin-top: 1rem }
input, .hf { box-sizing: border-box; width: 100%; height: 3rem; border: 1px solid #78716c;
  border-radius: .5rem; background: ${paper}; overflow: hidden }
input { color: inherit; padding: 0 .75rem; font: inherit }
.hf-field--focus { outline: 2px solid #0f766e }
.hf-field--error { border-color: #b91c1c }
.two { display: grid; gap: 1rem; grid-template-columns: 1fr 1fr }
</style></head><body><main><h1>Checkout</h1>
<label for="number">Card number</label><div id="number" class="hf"></div>
<div class="two"><div>
<label for="expiry">Expiry date</label><div id="expiry" class="hf"></div></div>
<div><label for="code">Security code</label><div id="code" class="hf"></div></div></div>
<label for="name">Name on card</label><input id="name" autocomplete="cc-name">
<p><button id="pay">Pay</button></p></main>
<script nonce="own">
${before}
window.heard = [];
const style = { input: { color: "${ink}", backgroundColor: "${paper}", fontSize: "16px",
  padding: "0 12px", outline: "none", fontVariantNumeric: "tabular-nums" },
  placeholder: { color: "#a8a29e" } };
window.options = {
  endpointId: "${endpoint}",
  fields: {
    number: { type: "pan", placeholder: "1234 1234 1234 1234", style },
    expiry: { type: "exp", placeholder: "MM / YY", style },
    code: { type: "cvv", placeholder: "CVC", style },
  },
  onReady: () => heard.push("ready"),
  onToken: (token) => heard.push({ token }),
  onError: (error) => heard.push(error),
  onNetwork: (network) => heard.push({ network }),
};
window.onHostedFieldsReady = (script) => { window.fields = script.init(options); };
</script>
<script src="${gateway}/sdk/hosted-fields/v1/index.js?segment=gw"></script>
</body></html>`;
}

type Heard = { readonly token?: string; readonly code?: number; readonly payerMessage?: string };

async function openShop(
  t: Parameters<typeof openWindow>[0],
  size: "desk" | "phone",
  options: Partial<PageOptions> = {},
) {
  await listOrigins();
  const { world, shop } = prepared();
  const window = await openWindow(t, size);
  const own = { gateway: world.gateway.url, endpoint: idOf(world), ...options };
  await window.page.goto(shop.publish(shopPage(own)));
  await heardIn(window.page, (each) => each === "ready");
  return { ...window, world, shop, ...fieldsIn(window.page) };
}

/** Waits until the page has heard such a thing since the last call, and returns it. */
function heardIn(page: Page, is: (each: unknown) => boolean): Promise<Heard> {
  return until("the page hears of its fields", async () => {
    const next: unknown = await page.evaluate("heard.shift()");
    return is(next) ? (next as Heard) : undefined;
  });
}

const isError = (each: unknown) => typeof each === "object" && each !== null && "code" in each;
const isToken = (each: unknown) => typeof each === "object" && each !== null && "token" in each;

function fieldsIn(page: Page) {
  const inside = (id: string) => page.frameLocator(`#${id} iframe`).locator("#value");
  return { number: inside("number"), expiry: inside("expiry"), code: inside("code") };
}

async function fill(fields: ReturnType<typeof fieldsIn>, number: string): Promise<void> {
  await fields.number.fill(number);
  await fields.expiry.fill("12/30");
  await fields.code.fill("123");
}

const tokenizeWith = (page: Page, ticket: string) => page.evaluate(`fields.tokenize("${ticket}")`);
/** Reads the styles of the field for the number, in its own document. */
function styleOf(page: Page, ...names: readonly string[]) {
  const frame = page.frame({ url: /\/pan\?/ }) ?? assert.fail("the field is not shown");
  const read = (name: string) => `getComputedStyle(document.getElementById("value")).${name}`;
  return frame.evaluate(`[${names.map(read).join()}]`);
}

test("hosted fields feel like the shop's own, and a mistyped card costs no ticket", async (t) => {
  const { page, world, number, expiry, code, troubles } = await openShop(t, "desk");
  const ticket = await ticketFor(world);

  // The labels of the shop and the tabulator move the cursor through the frames.
  await page.locator("label[for=number]").click();
  await page.keyboard.type("4000001000000018");
  assert.equal(await number.inputValue(), "4000 0010 0000 0018");
  await page.locator("#number.hf-field--focus.hf-field--filled").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("1");
  await page.keyboard.type("230");
  assert.equal(await expiry.inputValue(), "12 / 30");
  await page.locator("#number.hf-field--filled:not(.hf-field--focus)").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("1x2");
  assert.equal(await code.inputValue(), "12");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.id"), "name");
  await takePicture(page, "hosted-fields-desk");

  // What the fields find is told without a request, and the ticket stays good.
  await tokenizeWith(page, ticket);
  const short = await heardIn(page, isError);
  assert.deepEqual(
    [short.code, short.payerMessage],
    [2003, "Enter three digits, or four for American Express."],
  );
  await page.locator("#expiry.hf-field--error").waitFor();
  assert.equal(await code.getAttribute("aria-invalid"), "true");
  await code.fill("123");
  await page.locator("#expiry:not(.hf-field--error)").waitFor();
  for (const [field, text, wanted] of [
    [number, "4000 0010 0000 0019", 2001],
    [expiry, "12/20", 2002],
    [expiry, "", 2004],
  ] as const) {
    const before = await field.inputValue();
    await field.fill(text);
    await tokenizeWith(page, ticket);
    assert.equal((await heardIn(page, isError)).code, wanted);
    await field.fill(before);
  }
  for (const typed of ["2030-12", "12/2030", "1230", "١٢/٣٠"]) {
    await expiry.fill(typed);
    assert.equal(await expiry.inputValue(), "12 / 30", typed);
  }
  assert.deepEqual(await styleOf(page, "fontSize"), ["16px"]);
  await page.evaluate(`fields.setStyle("number", { input: { color: "rgb(1, 2, 3)",
    backgroundColor: "url(https://evil.example)", position: "fixed",
    fontSize: "1px;color:red" } })`);
  await number.focus();
  const styled = await styleOf(page, "color", "backgroundImage", "position");
  assert.deepEqual(styled, ["rgb(1, 2, 3)", "none", "static"]);
  await assertNoViolations(page, "hosted fields");

  await tokenizeWith(page, ticket);
  const { token = "" } = await heardIn(page, isToken);
  const order = await world.merchant().sale(paidBy(token));
  await world.settle();
  await tokenizeWith(page, ticket);
  const used = await heardIn(page, isError);

  assert.equal((await world.merchant().status(order)).status, "approved");
  assert.equal(used.code, 4003);
  const expected = [/is not supported/, /Failed to load resource.*400/, /^400: .*hosted-fields$/];
  const strange = troubles.filter((trouble) => !expected.some((form) => form.test(trouble)));
  assert.deepEqual(strange, []);
});

test("hosted fields speak the page's language, also on a phone and on a dark page", async (t) => {
  const { page, world, number, ...fields } = await openShop(t, "phone", {
    language: "de",
    dark: true,
  });

  assert.equal(await page.locator("#number iframe").getAttribute("title"), "Kartennummer");
  assert.equal(await number.getAttribute("inputmode"), "numeric");
  assert.deepEqual(
    [await number.getAttribute("autocomplete"), await fields.expiry.getAttribute("autocomplete")],
    ["cc-number", "cc-exp"],
  );
  await fill({ number, ...fields }, "5200000000000015");
  await takePicture(page, "hosted-fields-phone-dark");
  await fields.code.fill("1");
  await tokenizeWith(page, await ticketFor(world));
  assert.match((await heardIn(page, isError)).payerMessage ?? "", /Ziffern/);
  await page.evaluate("fields.destroy()");
  assert.equal(await page.locator("iframe").count(), 0);
  await page.evaluate(`fields = HostedFields.init({ ...options, endpointId: "9" })`);
  assert.equal((await heardIn(page, isError)).code, 1006);
  await page.evaluate("fields.destroy()");
  await page.evaluate("void (window.fields = HostedFields.init(options))");
  await heardIn(page, (each) => each === "ready");
});

/** Collects everything that passes through the page's own functions. */
const spies = `
window.spied = [];
let isNoting = false;
const note = (...seen) => {
  if (isNoting) return;
  isNoting = true;
  const print = (each) => typeof each === "object" ? stringify(each) : String(each);
  try { spied.push(seen.map(print).join(" ")); } catch {}
  isNoting = false;
};
const stringify = JSON.stringify;
addEventListener("message", (event) => note("message", event.data, event.origin), true);
for (const [owner, names] of [
  [MessagePort.prototype, ["postMessage"]], [window, ["postMessage", "fetch"]],
  [String.prototype, ["replace", "split", "slice"]], [Array.prototype, ["push", "map", "find"]],
  [JSON, ["stringify", "parse"]], [Object, ["entries", "assign", "freeze"]],
  [XMLHttpRequest.prototype, ["send"]], [EventTarget.prototype, ["dispatchEvent"]],
]) for (const name of names) {
  const real = owner[name];
  owner[name] = function (...given) {
    note(name, ...given);
    return real.apply(this, given);
  };
}
const onmessage = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
Object.defineProperty(MessagePort.prototype, "onmessage", { ...onmessage, set(hear) {
  onmessage.set.call(this, (event) => { note("port", event.data); hear(event); });
} });
addEventListener("keydown", (event) => note("key", event.key), true);
addEventListener("input", (event) => note("input", event.target.value), true);
addEventListener("paste", (event) => note("paste", event.clipboardData.getData("text")), true);
`;

test("a page that attackers have taken over gets nothing of the card", async (t) => {
  const { page, world, shop, context, ...fields } = await openShop(t, "desk", { before: spies });
  // This card is approved with any CVV.
  const canary = "4000004000000210";
  const verification = "7391";
  await fields.number.click();
  await page.keyboard.type(canary);
  await fields.expiry.fill("11/32");
  await fields.code.fill(verification);
  await tokenizeWith(page, await ticketFor(world));
  const { token = "" } = await heardIn(page, isToken);
  const order = await world.merchant().sale(paidBy(token));
  await world.settle();

  // The page reads the frames' windows, their documents and its own history in every way it can.
  const read = await page.evaluate(`(() => {
    const seen = [...spied, document.documentElement.outerHTML, location.href];
    for (const frame of document.querySelectorAll("iframe")) {
      seen.push(frame.src, String(frame.contentDocument));
      for (const name of ["document", "name", "getSelection"]) {
        try { seen.push("READ", String(frame.contentWindow[name])); }
        catch { seen.push("refused"); }
      }
    }
    for (const entry of performance.getEntries()) seen.push(entry.name);
    seen.push(Object.entries(localStorage).join(), Object.entries(sessionStorage).join());
    return seen;
  })()`);
  const all = [...(read as readonly string[]), JSON.stringify(await context.storageState())];
  assert.ok(
    all.some((each) => each.startsWith("port")),
    "the spies heard the script",
  );
  assert.equal(all.includes("READ"), false);
  const stored = (await readEverything(world)).text;
  const text = [...all, ...world.logged, stored].join("\n");
  const digits = text.replaceAll(/[ -]/g, "");
  assert.equal(digits.includes(canary), false);
  assert.equal(all.join("\n").includes(verification), false);
  assert.equal(/11 ?\/ ?(20)?32/.test(all.join("\n")), false);

  // The page asks the fields' documents for more than they tell.
  const asked = await page.evaluate(`new Promise((done) => {
    const told = [];
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => told.push(event.data);
    const ask = { from: "hosted-fields", event: "value" };
    for (const frame of document.querySelectorAll("iframe")) {
      frame.contentWindow.postMessage(ask, "*");
      frame.contentWindow.postMessage(ask, "*", [port2].slice(told.length));
      break;
    }
    setTimeout(() => done(told), 200);
  })`);
  assert.deepEqual(asked, []);

  // A ticket and a frame are worth nothing on another site, nor below one.
  const stranger = await startShop(t);
  const stolen = { gateway: world.gateway.url, endpoint: idOf(world) };
  const nested = shop.publish(shopPage(stolen));
  const thieves = [
    shopPage(stolen),
    `<!doctype html><title>Nested</title><iframe src="${nested}">`,
  ];
  for (const thief of thieves) {
    const other = await context.newPage();
    const refused = other.waitForEvent("console", (message) =>
      /frame-ancestors/.test(message.text()),
    );
    await other.goto(stranger.publish(thief));
    await refused;
    await other.close();
  }
  const ephemeralTicket = await ticketFor(world);
  const posted = await page.evaluate(`fetch("${world.gateway.url}/gw/api/v4/tokenize/hosted-fields",
    { method: "POST", body: "${ephemeralTicket}" }).then(() => "answered", () => "refused")`);
  assert.equal(posted, "refused");
  await assert.rejects(world.merchant().sale(paidBy(token)), /TOKEN_NOT_FOUND/);
  assert.equal((await world.merchant().status(order)).status, "approved");
});

test("hosted fields refuse containers that are covered, invisible or taken", async (t) => {
  const { page, world } = await openShop(t, "desk");

  // The script refuses containers that are covered, moved, invisible or taken.
  const init = (script: string) =>
    page.evaluate(`(() => { ${script}; heard.length = 0; HostedFields.init(options); })()`);
  const codeOf = async () => (await heardIn(page, isError)).code;
  await page.evaluate(`document.body.insertAdjacentHTML("beforeend", '<div id="veil"></div>');
    Object.assign(veil.style, { position: "fixed", inset: 0 })`);
  await tokenizeWith(page, "x");
  assert.equal(await codeOf(), 1003);
  await page.evaluate("veil.remove(); document.getElementById('number').style.opacity = 0.01");
  await tokenizeWith(page, "x");
  assert.equal(await codeOf(), 1003);
  await init("document.getElementById('number').style.opacity = ''");
  assert.equal(await codeOf(), 1005);
  await init("fields.destroy(); document.getElementById('code').textContent = 'x'");
  assert.equal(await codeOf(), 1002);
  await init("document.getElementById('code').textContent = ''; options.fields.code.type = 'pin'");
  assert.equal(await codeOf(), 1004);

  // A second script finds the first one's frames in the containers.
  await page.evaluate(`options.fields.code.type = "cvv"; heard.length = 0;
    window.fields = HostedFields.init(options)`);
  await heardIn(page, (each) => each === "ready");
  await page.addScriptTag({ url: `${world.gateway.url}/sdk/hosted-fields/latest/index.js` });
  assert.equal(await codeOf(), 1002);
});
