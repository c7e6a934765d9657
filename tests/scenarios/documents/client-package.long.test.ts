/**
 * The client as a shop gets it: built, installed without dependencies, and used as its README
 * shows. Every example of the README runs with a gateway.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { buildClient } from "@tollgate/client/build";
import { answerPareq, passChallenge, readForms, runMethod } from "../../support/cardholder.ts";
import { atEnd } from "../../support/clean-up.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { saleFields } from "../../support/merchant.ts";
import { readFences, repository } from "../../support/operator/document.ts";
import { startProgram } from "../../support/programs.ts";
import { rowsOf, testInLongRun } from "../../support/series.ts";
import { cards } from "../../support/threeds.ts";
import { until, untilTrue } from "../../support/until.ts";
import { makeKeyPair } from "../../support/wire.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile);
const folder = await mkdtemp(join(tmpdir(), "tollgate-shop-"));
atEnd(endOfFile, () => rm(folder, { recursive: true, force: true }));
const built = join(folder, "node_modules/@tollgate/client");
const { plain = "", secure = "" } = world.set.endpoints;
const environment = {
  GATEWAY: world.gateway.url,
  LOGIN: world.set.login,
  CONTROL_KEY: world.set.controlKey,
  ENDPOINT: plain,
  SECURE_ENDPOINT: secure,
  PORT: "0",
};
await prepareShop();

test("the package has types and ES modules, and needs no other package and no module of Node", async () => {
  const manifest = JSON.parse(await readFile(join(built, "package.json"), "utf8"));
  const files = (await readdir(built)).filter((name) => name.endsWith(".js"));

  assert.equal(manifest.dependencies ?? manifest.peerDependencies, undefined);
  assert.deepEqual(Object.keys(manifest.exports["."]), ["types", "default"]);
  assert.ok(files.includes("client.js"));
  for (const name of files) {
    const source = await readFile(join(built, name), "utf8");
    const imported = [...source.matchAll(/\b(?:from|import) ?\(?"([^"]+)"/g)].map(([, at]) => at);
    assert.deepEqual(
      imported.filter((at) => !files.includes(at?.replace("./", "") ?? "")),
      [],
      name,
    );
  }
});

testInLongRun("the README's examples have the types of the package", async () => {
  const options = {
    strict: true,
    noEmit: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    lib: ["es2024"],
    exactOptionalPropertyTypes: true,
  };
  const files = ["sale.ts", "report.ts", "handler.ts", "oauth.ts"];
  const project = JSON.stringify({ compilerOptions: options, files });
  await writeFile(join(folder, "tsconfig.json"), project);
  const compiler = join(repository, "node_modules/typescript/bin/tsc");

  const { stdout } = await run(compiler, "-p", folder);
  assert.equal(stdout, "");
});

test("the README's sale is approved", async () => {
  const { stdout, stderr } = await run(join(folder, "sale.ts"));

  assert.deepEqual([stdout, stderr], ["approved\n", ""]);
});

test("the README's report has the sale", async () => {
  const { stdout, stderr } = await run(join(folder, "report.ts"));

  assert.match(stdout, /^\S+ sale approved \d+\.\d\d$/m);
  assert.equal(stderr, "");
});

test("the README's OAuth client reads a key file", async () => {
  const KEY_FILE = join(folder, "key.pem");
  const { privateKey } = makeKeyPair();
  await writeFile(KEY_FILE, privateKey.export({ format: "pem", type: "pkcs1" }));

  await promisify(execFile)(process.execPath, [join(folder, "oauth.ts")], {
    env: { ...process.env, ...environment, KEY_FILE },
  });
});

for (const framework of rowsOf(["express", "fastify"], (name) => name === "express")) {
  test(`the README's shop with ${framework} receives the result once, and refuses a forged one`, async (t) => {
    const shop = startProgram([join(folder, `${framework}.ts`)], environment);
    atEnd(t, () => shop.kill());
    const port = await until("it listens", () => /(?::|port: )(\d{4,5})/.exec(shop.output)?.[1]);
    const url = `http://localhost:${port}/callback`;

    const sale = await world.merchant().sale({ server_callback_url: url });
    await world.settle();

    const line = `${sale["merchant-order-id"]} approved`;
    await untilTrue("it heard", () => shop.output.includes(line));
    const forged = await fetch(
      `${url}?status=approved&orderid=77000001&client_orderid=a&control=b`,
    );
    const posted = await fetch(url, {
      method: "POST",
      body: new URLSearchParams({ control: "b" }),
    });
    assert.deepEqual([forged.status, posted.status], [400, 400]);
    assert.equal(shop.output.split(line).length, 2, shop.output);
  });
}

describe("the README's handler", async () => {
  Object.assign(process.env, environment);
  const { handle } = await import(join(folder, "handler.ts"));
  const shop = "https://shop.example";
  const post = async (url: string, fields: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams(fields);
    const headers = { "x-real-ip": "203.0.113.7" };
    const response: Response = await handle(new Request(url, { method: "POST", headers, body }));
    return response.text();
  };

  test("passes the method and the challenge at its own address", async () => {
    const card = saleFields({ credit_card_number: cards.challenge });
    // The shop must not pass on fields that a customer has added.
    const added = { payment_data_type: "walletb_decrypted", payment_data: "e30=" };
    const first = await post(`${shop}/pay`, { ...card, ...added });
    const [start, result] = readForms(first);
    assert.ok(start !== undefined && result !== undefined, first);
    const packed = start.fields["threeDSMethodData"] ?? "";
    const asked = JSON.parse(Buffer.from(packed, "base64url").toString());
    assert.equal(asked.threeDSMethodNotificationURL, result.action);
    const method = await runMethod(start.action, asked.threeDSServerTransID, result.action);
    const notice = await post(method.postTo, { threeDSMethodData: method.threeDSMethodData });
    assert.match(notice, /postMessage\("3ds-method-done", location.origin\)/);

    const second = await post(result.action, { ...result.fields, ...browser, threeDSCompInd: "Y" });
    const [challenge] = readForms(second);
    const { cres, postTo } = await passChallenge({
      "tds-creq-form-acs-url": challenge?.action,
      "tds-creq-form-creq": challenge?.fields["creq"],
    });
    assert.equal(postTo, result.action);
    assert.match(await post(postTo, { cres }), /Your payment is approved/);
    assert.equal((await handle(new Request(`${shop}/step?order=other`))).status, 404);
  });

  for (const [action, status] of [
    ["confirm", "approved"],
    ["fail", "declined"],
  ] as const) {
    test(`takes 3-D Secure 1.0.2 at the same address: ${status}`, async () => {
      const sale = saleFields({ credit_card_number: cards.v1Authenticated });
      const [form] = readForms(await post(`${shop}/pay`, sale));
      const { PaReq, MD, TermUrl = "" } = form?.fields ?? {};
      const asked = {
        "tds-pareq-form-acs-url": form?.action,
        "tds-pareq-form-pareq": PaReq,
        "tds-pareq-form-md": MD,
      };
      const { paRes: PaRes, md, postTo } = await answerPareq(asked, TermUrl, { action });

      assert.equal(postTo, TermUrl);
      const end = await post(postTo, { PaRes, MD: md });
      assert.match(end, new RegExp(`Your payment is ${status}`));
      // A reload of the page posts it again, and changes nothing.
      assert.equal(await post(postTo, { PaRes, MD: md }), end);
    });
  }
});

/** The values that the script of the page fills in. */
const browser = {
  browserLanguage: "en",
  browserColorDepth: "24",
  browserJavaEnabled: "false",
  browserJavascriptEnabled: "true",
  browserTZ: "0",
  browserScreenHeight: "1080",
  browserScreenWidth: "1920",
};

/** Makes a folder with the built client, the frameworks and the examples. */
async function prepareShop(): Promise<void> {
  await mkdir(built, { recursive: true });
  buildClient(built);
  for (const name of ["express", "fastify", "@types", "undici-types"]) {
    await symlink(join(repository, "node_modules", name), join(folder, "node_modules", name));
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const { mark, text } of await readFences("client/README.md")) {
    await writeFile(join(folder, `${mark}.ts`), text);
  }
}

function run(...command: readonly string[]) {
  const env = { ...process.env, ...environment };
  return promisify(execFile)(process.execPath, command, { env });
}
