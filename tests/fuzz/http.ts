/**
 * Requests to a running gateway in staging: merchants' forms, the portal and its cookies, posts of
 * the payment page, and bytes that are hardly HTTP. Findings are replies with 5xx, lines that the
 * gateway logs as errors, and requests that pass for another merchant's or user's.
 */
import assert from "node:assert/strict";
import { connect } from "node:net";
import fc from "fast-check";
import { plainCard, saleFields } from "../support/merchant.ts";
import { addUser, openBrowser } from "../support/operator/portal.ts";
import { examples } from "../support/operator/portal-routes.ts";
import { formFields, openPage, typed } from "../support/posted-page.ts";
import { formOf, post, sha1, signedSale, signedStatus } from "../support/wire.ts";
import type { World } from "../support/world.ts";
import { changed, changedMembers } from "./changed.ts";
import type { Target } from "./target.ts";

/** Real time, much longer than the slowest request on a busy machine. */
const patienceMs = 60_000;

export async function makeHttpTargets(world: World): Promise<readonly Target[]> {
  const targets = [
    ...[makeForms(world), makeSignedForms(world), makeRaw(world)],
    ...[await makePortal(world), await makeCookies(world), makePages(world)],
  ];
  let seen = 0;
  return targets.map((target) => ({
    ...target,
    async check(input) {
      const outcome = await target.check(input);
      const fresh = world.logged.slice(seen);
      seen = world.logged.length;
      const errors = fresh.filter((line) => JSON.parse(line).level >= 50);
      assert.deepEqual(errors, [], "the gateway logged an error");
      return outcome;
    },
  }));
}

const operations = [
  ...["sale", "preauth", "account-verification", "capture", "return", "status", "sale-form"],
  ...["sale/group", "sync/sale", "create-card-ref", "get-card-info", "make-rebill"],
];

/** Forms that are changed after they were signed. Only what is not signed may differ. */
function makeForms(world: World): Target {
  const endpoint = world.set.endpoints["plain"] ?? "";
  const sale = saleFields({ client_orderid: "fuzz-form" });
  const samples = [
    signedSale(world, endpoint, sale),
    signedSale(world, endpoint, formFields({ client_orderid: "fuzz-page" })),
    signedStatus(world, { client_orderid: "fuzz-form", orderid: "1" }),
  ];
  const words = [...Object.keys(sale), "&client_orderid=", "&amount=", "%C3%A9", "%EF%BB%BF"];
  return {
    name: "merchant-form",
    inputs: fc
      .tuple(fc.constantFrom(...operations), changed(samples, words))
      .map(([operation, body]) => `${operation}\n${body}`),
    async check(input) {
      const [operation = "", ...lines] = input.split("\n");
      const body = Buffer.from(lines.join("\n"), "latin1");
      const answer = await ask(world, `/gw/api/v2/${operation}/${endpoint}`, body);
      if (!answer.type.startsWith("async")) return answer.type;
      const sent = new URLSearchParams(body.toString());
      const id = sent.get("client_orderid")?.trim() ?? "";
      const email = sent.get("email")?.trim() ?? "";
      assert.equal(Number(sent.get("amount")), 10.15, "another amount is accepted");
      const signed = sha1(`${endpoint}${id}1015${email}${world.set.controlKey}`);
      assert.equal(sent.get("control")?.trim().toLowerCase(), signed, "a forgery is accepted");
      return "accepted";
    },
  };
}

/** The merchant's own strange values, correctly signed. */
function makeSignedForms(world: World): Target {
  const endpoint = world.set.endpoints["plain"] ?? "";
  const { client_orderid: _, ...fields } = saleFields();
  const more = { purpose: "x", server_callback_url: "https://shop.example/cb", merchant_data: "x" };
  const sample = JSON.stringify({ ...fields, ...more, ssn: "1", birthday: "19800101" });
  let count = 0;
  return {
    name: "merchant-values",
    inputs: changedMembers([sample]),
    async check(input) {
      const given: unknown = JSON.parse(input || "{}");
      const strange = Object.entries(Object(given)).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]);
      count += 1;
      const sent = { client_orderid: `fuzz-${count}`, ...Object.fromEntries(strange) };
      const body = signedSale(world, endpoint, sent);
      return (await ask(world, `/gw/api/v2/sale/${endpoint}`, body)).type;
    },
  };
}

async function ask(world: World, path: string, body: string | Buffer) {
  const reply = await post(world, path, body);
  assert.ok(reply.status < 500, `${reply.status} ${reply.text}`);
  assert.doesNotMatch(reply.text, /\.ts:\d+|at \w+ \(/);
  const type = new URLSearchParams(reply.text).get("type")?.trim() ?? "";
  assert.notEqual(type, "error", reply.text);
  return { ...reply, type };
}

/** Every route of the portal, with changed input, by a user who may use it. */
async function makePortal(world: World): Promise<Target> {
  const values = await examples.prepare(world);
  const login = await addUser(world, { login: "fuzz-operator", role: "admin" });
  const browser = openBrowser(world.gateway);
  assert.equal(await browser.signIn(login), "in");
  // These routes are left out: a sign-in computes a hash, and a sign-out makes the next one
  // necessary.
  const names = examples.routes.map(([name]) => name).filter((name) => !name.includes("/sign-"));
  const inputs = names.map((name) =>
    changedMembers([JSON.stringify(examples.inputOf(name, values))]).map(
      (json) => `${name}\n${json}`,
    ),
  );
  return {
    name: "portal",
    inputs: fc.oneof(...inputs),
    async check(input) {
      const [name = "", json] = input.split("\n");
      const given = Object.entries(Object(JSON.parse(json || "{}"))).map(([field, value]) => {
        // An address contains texts only.
        const isInAddress = name.startsWith("GET") || name.includes(`:${field}`);
        return [field, isInAddress && Object(value) === value ? JSON.stringify(value) : value];
      });
      const { status, body } = await browser.send(name, Object.fromEntries(given));
      assert.ok(status < 500, `${status} ${JSON.stringify(body)}`);
      return String(status);
    },
  };
}

/** A session is recognised by its whole token only. */
async function makeCookies(world: World): Promise<Target> {
  const login = await addUser(world, { login: "fuzz-cookie", role: "admin" });
  const browser = openBrowser(world.gateway);
  assert.equal(await browser.signIn(login), "in");
  const [cookie = ""] = [...browser.jar].map(([name, value]) => `${name}=${value}`);
  const samples = [cookie, `${cookie}; tollgate-device=x`, "=;=;", "a=b; c"];
  return {
    name: "portal-cookie",
    inputs: changed(samples, ["tollgate-session=", "; "]),
    async check(input) {
      const sent = input.replace(/[^\t -~\u0080-\u00ff]/g, "");
      const { status } = await fetch(`${world.gateway.url}/portal/api/orders`, {
        headers: { cookie: sent, "x-portal": "1" },
        signal: AbortSignal.timeout(patienceMs),
      });
      if (status !== 200) assert.ok(status >= 400 && status < 500, String(status));
      else assert.ok(sent.includes(cookie), "a forged cookie is a session");
      return status === 200 ? "accepted" : String(status);
    },
  };
}

/** Posts of the payment page. A new page replaces one that is paid or closed. */
function makePages(world: World): Target {
  let link = "";
  return {
    name: "payment-page",
    inputs: changed([formOf(typed), formOf({ ...typed, email: "x@example.com" })], ["cc-csc="]),
    async check(input) {
      if (link === "") link = (await openPage(world.merchant()))["redirect-url"];
      const answer = await fetch(link, {
        method: "POST",
        body: Buffer.from(input, "latin1"),
        redirect: "manual",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        signal: AbortSignal.timeout(patienceMs),
      });
      const page = await answer.text();
      assert.ok(answer.status < 500, `${answer.status} ${page}`);
      assert.ok(!page.includes(plainCard), "the page shows a card number");
      if (!page.includes('name="cc-number"')) link = "";
      await world.settle();
      return answer.status === 303 ? "accepted" : String(answer.status);
    },
  };
}

function makeRaw({ gateway }: World): Target {
  const head = "Host: x\r\nConnection: close\r\n";
  const chunked = "Transfer-Encoding: chunked\r\n";
  const chunks = '2;x="y"\r\na=\r\n01\r\n1\r\n0\r\nz: 1\r\n\r\n';
  const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n";
  const samples = [
    `POST /gw/api/v2/sale/1 HTTP/1.1\r\n${head}${form}\r\na=1`,
    `POST /gw/api/v4/sale/1 HTTP/1.1\r\n${head}${form}Authorization: OAuth a="b"\r\n\r\na=1`,
    `POST /gw/api/v2/sale/1 HTTP/1.1\r\n${head}${chunked}\r\n${chunks}`,
    `GET /pay/10000000.AAAAAAAAAAAAAAAAAAAAAAAA HTTP/1.1\r\n${head}Accept-Language: de\r\n\r\n`,
    `GET /portal/api/orders?search=x HTTP/1.1\r\n${head}Cookie: a=b\r\n\r\n`,
    `GET /docs/ HTTP/1.1\r\n${head}Accept: */*;q=0.1\r\nIf-None-Match: "x"\r\n\r\n`,
  ];
  const words = [
    ...[chunked, "Transfer-Encoding: chunked, deflate\r\n", "\r\n folded", "0\r\n\r\n", "0 \r\n"],
    ...["Content-Length: 4\r\n", "Content-Length: +3\r\n", "Expect: 100-continue\r\n", "%2e%2e/"],
  ];
  return {
    name: "http",
    inputs: changed(samples, [...words, "Range: bytes=0-\r\n", "HTTP/1.0", "?", "#", "//"]),
    async check(input) {
      const answer = await speak(gateway.port, Buffer.from(input, "latin1"));
      assert.doesNotMatch(answer, /^HTTP\/1\.1 5/m);
      return /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? "closed";
    },
  };
}

/** Sends the request and ends its side, so that an incomplete request is refused at once. */
function speak(port: number, request: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.end(request));
    socket.setEncoding("latin1").on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
}
