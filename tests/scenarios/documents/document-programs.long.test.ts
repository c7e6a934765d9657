/**
 * The longer programs of the documents, as their pages show them: receivers of callbacks, which
 * must lose no result, and shops that drive 3-D Secure themselves. A cardholder visits the shops by
 * plain requests.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac, hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { post, readForms } from "../../../sandbox-bank/testing/browser.ts";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { type Fence, readFences } from "../../support/operator/document.ts";
import {
  findFreePort,
  interpreters,
  isMissing,
  keepUpWithTime,
  makeExampleFolder,
  variablesOf,
} from "../../support/operator/examples.ts";
import { readGw, startShell } from "../../support/programs.ts";
import { cards } from "../../support/threeds.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const languages = ["ts", "php", "python"] as const;
type Language = (typeof languages)[number];

const world = await startWorld(endOfFile);
const folder = await makeExampleFolder();
const callbacks = await readFences("docs/callbacks.md");
const secure = await readFences("docs/3d-secure.md");
await writeFile(join(folder, "method.js"), secure.find(isJavaScript)?.text ?? "");

describe("receivers of callbacks", () => {
  for (const language of languages) {
    test(`in ${language}`, { skip: isMissing(language) }, async (t) => {
      const { url, output } = await start(t, language, nthOf(callbacks, language, 0));
      const forged = await fetch(`${url}?status=approved&orderid=1&client_orderid=2&control=a`);

      const order = await world.merchant().sale({ server_callback_url: url });
      await world.settle();

      await hears(output, order);
      assert.equal(forged.status, 400);
    });

    test(`in ${language}, a result that cannot be asked for is not accepted`, {
      skip: isMissing(language),
    }, async (t) => {
      const { url, output } = await start(t, language, nthOf(callbacks, language, 0));

      // The receiver asks at another endpoint, which does not have this order.
      const order = await world.merchant("eur").sale({ currency: "EUR" });
      await world.settle();
      const answer = await fetch(`${url}?${signedCallback(order)}`);

      assert.ok([400, 500].includes(answer.status), `${answer.status}`);
      assert.doesNotMatch(output(), new RegExp(`${order["merchant-order-id"]} approved`));
    });
  }
});

describe("receivers of signed callbacks", () => {
  for (const [language, callbackMethod] of [
    ["ts", "POST"],
    ["php", "POST"],
    ["php", "JSON"],
    ["python", "POST"],
    ["python", "JSON"],
  ] as const) {
    test(`in ${language}: ${callbackMethod}`, { skip: isMissing(language) }, async (t) => {
      await world.changeEndpoint("eur", { callbackMethod });
      await keepUpWithTime(world);
      const endpoint = world.set.endpoints["eur"] ?? "";
      const { secret } = (await readGw(world, "callback", "secret", endpoint)) as Secret;
      const program = nthOf(callbacks, language, 1);
      const { url, output } = await start(t, language, program, { WEBHOOK_SECRET: secret });
      const now = Math.floor(Date.now() / 1000);
      const refused = [
        await forge(url, { key: secret, at: now - 600 }),
        await forge(url, { key: `whsec_${Buffer.alloc(32).toString("base64")}`, at: now }),
        (await fetch(url, { method: "POST", body: "status=approved" })).status,
      ];

      const order = await world
        .merchant("eur")
        .sale({ currency: "EUR", server_callback_url: `${url}signed` });
      await world.settle();

      await hears(output, order);
      assert.deepEqual(refused, [400, 400, 400]);
    });
  }
});

test("a receiver in php without its secret takes no forged callback", {
  skip: isMissing("php"),
}, async (t) => {
  const { url } = await start(t, "php", nthOf(callbacks, "php", 1));

  assert.equal(await forge(url, { key: "whsec_", at: Math.floor(Date.now() / 1000) }), 500);
});

describe("shops that drive 3-D Secure", () => {
  // biome-ignore format: a table
  const visits = [
    { card: cards.frictionless,    passes: ["method"],         ends: "approved" },
    { card: cards.challenge,       passes: ["method", "code"], ends: "approved" },
    { card: cards.v1Authenticated, passes: ["code"],           ends: "approved" },
  ];
  for (const language of languages) {
    test(`in ${language}`, { skip: isMissing(language) }, async (t) => {
      const { url, output } = await start(t, language, nthOf(secure, language, 1));

      for (const { card, passes, ends } of visits) {
        const visit = await visitShop(url, card);
        assert.deepEqual(visit, { passes, ends }, output());
      }
      // The Python program closes the connection.
      await post(`${url}pay`, { number: "1" }).catch(() => undefined);
      const stranger = await fetch(`${url}step?id=1%0d%0aset-cookie:%20a=b`);
      assert.deepEqual([stranger.status, stranger.headers.get("set-cookie")], [404, null]);
    });
  }
});

test("a receiver distinguishes new callbacks, callbacks in progress and handled ones", async () => {
  const table = nthOf(callbacks, "ts", 2);
  const [definition = ""] = /create table .*$/m.exec(table) ?? [];
  const program = `import pg from "pg";
const database = new pg.Client({ connectionString: process.env.DATABASE_URL });
await database.connect();
await database.query("${definition.replace("create table", "create temp table")}");
${table}
const told = [await seen.begin("a"), await seen.begin("a")];
await database.query("update heard set begun_at = now() - interval '2 minutes'");
told.push(await seen.begin("a"));
await seen.forget("a");
told.push(await seen.begin("a"));
await seen.done("a");
await seen.forget("a");
told.push(await seen.begin("a"));
console.log(told.join());
await database.end();
`;
  const file = join(folder, "heard.mjs");
  await writeFile(file, program);
  const env = { ...process.env, DATABASE_URL: String(world.installation.config.databaseUrl) };

  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });

  assert.equal(stdout.trim(), "new,in_progress,new,new,done");
});

/** Makes a genuine callback of this order. */
function signedCallback(order: Acknowledged): URLSearchParams {
  const { "gw-order-id": orderid, "merchant-order-id": client_orderid } = order;
  const text = `approved${orderid}${client_orderid}${world.set.controlKey}`;
  const own = { status: "approved", orderid, client_orderid };
  const serial = { "serial-number": order["serial-number"] };
  return new URLSearchParams({ ...own, ...serial, control: hash("sha1", text) });
}

type Secret = { readonly secret: string };

function isJavaScript({ language }: Fence): boolean {
  return language === "js";
}

/** Returns the n-th example of a language on the page. */
function nthOf(fences: readonly Fence[], language: Language, at: number): string {
  const own = fences.filter((fence) => fence.language === language);
  return own[at]?.text ?? assert.fail(`there is no example ${at + 1} in ${language}`);
}

let count = 0;
/** The settings of PHP without a `php.ini`, where printed text ends the headers. */
const strictPhp = "-d display_errors=1 -d output_buffering=0";

/** Starts a program that runs until the test ends. */
async function start(
  t: TestContext,
  language: Language,
  text: string,
  more: Readonly<Record<string, string>> = {},
) {
  count += 1;
  const file = `program-${count}.${language}`;
  await writeFile(join(folder, file), text);
  const PORT = await findFreePort();
  const serve = language === "php" ? `${strictPhp} -S localhost:${PORT} ` : "";
  await writeFile(join(folder, `${file}.sh`), `exec ${interpreters[language]} ${serve}${file}`);
  const program = startShell(`${file}.sh`, folder, { ...variablesOf(world), ...more, PORT });
  atEnd(t, () => program.kill());
  const url = `http://localhost:${PORT}/`;
  await until("it answers", async () => {
    assert.ok(program.isRunning, program.output);
    return fetch(url).catch(() => undefined);
  });
  return { url, output: () => program.output };
}

async function hears(output: () => string, order: Acknowledged): Promise<void> {
  const told = `${order["merchant-order-id"]} approved`;
  await until("the result is printed", () => output().includes(told) || undefined);
}

async function forge(url: string, { key, at }: { key: string; at: number }): Promise<number> {
  const body = "status=approved&orderid=1&client_orderid=2";
  const secret = Buffer.from(key.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", secret).update(`id.${at}.${body}`).digest("base64");
  const headers = {
    "webhook-id": "id",
    "webhook-timestamp": String(at),
    "webhook-signature": `v1,${signature}`,
    "content-type": "application/x-www-form-urlencoded",
  };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

/** The values that the browser reports to the shop after the issuer's method. */
const browser = {
  threeDSCompInd: "Y",
  browserLanguage: "en-GB",
  browserColorDepth: "24",
  browserJavaEnabled: "false",
  browserJavascriptEnabled: "true",
  browserTZ: "-60",
  browserScreenHeight: "900",
  browserScreenWidth: "1440",
};

/** The limit is long, because the machine may be busy. */
const patienceMs = 120_000;

/** Pays, and does what each page asks of the cardholder until the shop shows the result. */
async function visitShop(url: string, number: string) {
  const passes: string[] = [];
  let { html: page, address } = await post(`${url}pay`, { number });
  const submit = async (action: string, fields: Readonly<Record<string, string>>) => {
    ({ html: page, address } = await post(action, fields));
  };
  const endsBy = Date.now() + patienceMs;
  while (Date.now() < endsBy) {
    const [, ends = "processing"] = /Your payment is (\w+)/.exec(page) ?? [];
    if (ends !== "processing") return { passes, ends };
    const [form, result] = readForms(page, address);
    if (form === undefined) {
      await world.settle();
      page = await (await fetch(address)).text();
    } else if (result !== undefined) {
      passes.push("method");
      const [notice] = (await post(form.action, form.fields)).forms;
      const told = await post(notice?.action ?? "", notice?.fields ?? {});
      assert.match(told.html, /parent\.postMessage/);
      await submit(result.action, { ...result.fields, ...browser });
    } else if ("code" in form.fields) {
      passes.push("code");
      await submit(form.action, { ...form.fields, code: "1234", action: "confirm" });
    } else await submit(form.action, form.fields);
  }
  return assert.fail(`no result: ${page}`);
}
