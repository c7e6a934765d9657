/** The page at `/` as a newcomer meets it: a real browser, everything started by one command. */
import assert from "node:assert/strict";
import { before, describe } from "node:test";
import type { Page } from "playwright-core";
import { openContext, takePicture, test, testInLongRun } from "../support/browser/browser.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { type GatewayProcess, startProcess } from "../support/gateway-process.ts";

const approving = "4000001000000018";
const withoutFunds = "4000004000000020";

describe("the page at / in staging", () => {
  let gateway: GatewayProcess;
  before(async () => {
    gateway = await startProcess(endOfFile);
  });

  test("tells a newcomer what is running and what to use", async () => {
    const { page, troubles } = await visit(gateway.baseUrl);
    const { merchant, endpoints, group, bank } = gateway.demo;
    const text = (await page.textContent("main")) ?? "";

    const wanted = [gateway.baseUrl, bank.url, bank.host, "ready", merchant.login];
    for (const value of [...wanted, merchant.controlKey, group, ...Object.values(endpoints)]) {
      assert.ok(text.includes(value), `the page does not tell ${value}`);
    }
    assert.equal(await page.locator("#cards code.value").filter({ hasText: /^\d+$/ }).count(), 63);
    assert.match(text, /None yet/);
    assert.deepEqual(troubles, []);
  });

  test("pays by its form, and shows both an approval and a decline", async () => {
    const { page, troubles } = await visit(gateway.baseUrl);

    await pay(page, { card: approving, amount: "10.42" });
    await page.waitForURL(/\/\?order=try-/);
    assert.match((await page.textContent(".result")) ?? "", /^\s*Approved/);
    await pay(page, { card: withoutFunds, amount: "7.05" });
    await page.waitForURL(/\/\?order=try-/);
    assert.match(
      (await page.textContent(".result")) ?? "",
      /^\s*Declined.*116 INSUFFICIENT_FUNDS/s,
    );

    const rows = await page.locator("#orders tbody tr").allTextContents();
    assert.equal(rows.length, 2);
    assert.match(rows[0] ?? "", /7\.05 USD.*400000\*{4}0020.*sale_declined.*116/s);
    assert.match(rows[1] ?? "", /10\.42 USD.*400000\*{4}0018.*sale_approved/s);
    assert.match((await page.textContent("tr.chosen")) ?? "", /sale_declined/);
    assert.deepEqual(troubles, []);
  });

  testInLongRun("says what is wrong with an amount and keeps what was chosen", async () => {
    const { page } = await visit(gateway.baseUrl);

    await pay(page, { card: withoutFunds, amount: "10.42", endpoint: "jpy (JPY)" });

    assert.match((await page.textContent(".result")) ?? "", /no amount in JPY/);
    assert.equal(await page.inputValue("select[name=card]"), withoutFunds);
    assert.equal(await page.locator("#orders tbody tr").count(), 2);
  });

  test("takes no payment from another site's page", async () => {
    const page = await (await openContext()).newPage();
    await page.route("http://elsewhere.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<form method="post" action="${gateway.baseUrl}/try">
          <input name="card" value="${approving}"><input name="amount" value="1.00">
          <input name="endpoint" value="${gateway.demo.endpoints["plain"]}"><button>Win</button>`,
      }),
    );
    await page.goto("http://elsewhere.example/");
    const answered = page.waitForResponse(/\/try$/);

    await page.click("button");

    assert.equal((await answered).status(), 403);
  });

  testInLongRun("gives commands that work when they are pasted", async () => {
    const { page } = await visit(gateway.baseUrl);
    const [sale = "", status = ""] = await page.locator("#commands pre").allTextContents();

    const acknowledged = await runCommand(sale);
    const result = await runCommand(status);

    assert.equal(acknowledged.get("type"), "async-response");
    assert.equal(result.get("merchant-order-id"), acknowledged.get("merchant-order-id"));
  });

  test("fits a phone and a desk, by day and by night", async () => {
    const grounds = new Set<unknown>();
    const { page } = await visit(gateway.baseUrl);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });

        const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
        assert.ok(wide <= width, `${wide} px on a screen of ${width} px`);
        grounds.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
        await takePicture(page, `welcome-${width}-${colorScheme}`);
      }
    }
    assert.equal(grounds.size, 2);
  });
});

/** Notes every complaint of the browser from the first request on. */
async function visit(address: string) {
  const page = await (await openContext()).newPage();
  const troubles: string[] = [];
  page.on("console", (message) => troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => troubles.push(`failed: ${request.url()}`));
  page.on("response", (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()}: ${response.url()}`);
  });
  await page.goto(address);
  return { page, troubles };
}

type Payment = { readonly card: string; readonly amount: string; readonly endpoint?: string };

async function pay(page: Page, { card, amount, endpoint = "plain (USD)" }: Payment) {
  await page.selectOption("select[name=card]", card);
  await page.fill("input[name=amount]", amount);
  await page.selectOption("select[name=endpoint]", { label: endpoint });
  await page.click("#pay button");
}

/** As a shell would read it, for machines without curl. */
async function runCommand(command: string): Promise<URLSearchParams> {
  const [, url = ""] = /^curl -s -w '\\n' '([^']+)'/.exec(command) ?? [];
  const fields = [...command.matchAll(/--data-urlencode '([^=']+)=([^']*)'/g)];
  const body = new URLSearchParams(fields.map(([, name = "", value = ""]) => [name, value]));
  const answer = await fetch(url, { method: "POST", body });
  return new URLSearchParams(await answer.text());
}
