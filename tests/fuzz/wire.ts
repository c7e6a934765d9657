/**
 * Answers of other systems to the gateway over real sockets: the acquirer's host, receivers of
 * callbacks and directory servers with their results; and OAuth headers of merchants. They have a
 * world of their own, because a lying host makes the books differ.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import * as oauth1 from "@tollgate/protocols/oauth1";
import fc from "fast-check";
import { startAnsweringHost } from "../support/bank/answering-host.ts";
import { makeResult, postResult } from "../support/bank/results.ts";
import { atEnd, type Test } from "../support/clean-up.ts";
import { saleFields } from "../support/merchant.ts";
import { beginChallenge } from "../support/threeds.ts";
import { untilTrue } from "../support/until.ts";
import { authorizationFor, giveKey, makeKeyPair, send } from "../support/wire.ts";
import { startWorld, type World } from "../support/world.ts";
import { applyEdit, changed, changedMembers, type Edit, editsWith } from "./changed.ts";
import { makeDirectoryTargets, stepMs } from "./directory.ts";
import type { Target } from "./target.ts";

const answerTimeoutMs = 30_000;

export async function makeWireTargets(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<readonly Target[]> {
  const world = await startWorld(t, settings, { keepsBooks: false });
  const targets = [
    await makeHostAnswers(t, world),
    await makeReceiverAnswers(t, world),
    ...(await makeDirectoryTargets(t, world)),
    makeResults(world),
  ];
  // OAuth is made last, because its signatures name the gateway's port, which a restart changes,
  // and runs first, because the others move the clock beyond its timestamps.
  const oauth = await makeOAuth(world);
  let seen = 0;
  return [oauth, ...targets].map((target) => ({
    ...target,
    async check(input) {
      const outcome = await target.check(input);
      const errors = world.logged.slice(seen).filter((line) => JSON.parse(line).level >= 50);
      seen = world.logged.length;
      const unexplained = errors.filter((line) => !isExplained(line));
      assert.deepEqual(unexplained, [], "the gateway logged an error");
      return outcome;
    },
  }));
}

/**
 * Whether the line is explained by an answer of the host of which the operator must be informed.
 */
function isExplained(line: string): boolean {
  const events =
    /"event":"(order\.(reversal_refused|repeat_refused|doubt_alarm)|acquirer\.late_approval_unknown)"/;
  return events.test(line);
}

async function makeHostAnswers(t: Test, world: World): Promise<Target> {
  const host = await startAnsweringHost(world.bank.hostPort);
  atEnd(t, () => host.close());
  await world.changeGate("sandbox", { port: host.port });
  return {
    name: "host-answer",
    // Changes of the bank's genuine answer to a charge.
    inputs: editsWith(300).map((each) => JSON.stringify(each)),
    async check(input) {
      const given: readonly Edit[] = JSON.parse(input);
      let isAnswered = false;
      host.rewrite((answer) => {
        if (isAnswered || answer.toString("latin1", 0, 4) !== "0210") return answer;
        isAnswered = true;
        return given.reduce(applyEdit, answer);
      });
      const merchant = world.merchant();
      const sale = await merchant.sale();
      await untilTrue("the bank has answered", () => isAnswered);
      await world.pass(answerTimeoutMs);
      await world.linksUp();
      await world.pass(answerTimeoutMs);
      const { status, "processor-rrn": reference = "" } = await merchant.status(sale);
      const entries = reference === "" ? [] : world.bank.ledger(reference);
      const taken = entries.reduce(
        (sum, { kind, amount }) => sum + (kind === "sale" ? amount : -amount),
        0n,
      );
      assert.notEqual(status, "processing", "no answer ends the order");
      // The bank has booked the charge, and a sale that is not approved was declined by the answer
      // or reversed.
      if (status === "approved") assert.ok(taken > 0n, "approved, and the bank has no charge");
      if (status === "error") assert.equal(taken, 0n, "in error, and the charge stands");
      return status;
    },
  };
}

/** A receiver with answers of its own. Only an answer with 2xx is a delivery. */
async function makeReceiverAnswers(t: Test, world: World): Promise<Target> {
  let answer = Buffer.alloc(0);
  const server = createServer((socket) => {
    socket.on("error", () => undefined).once("data", () => socket.end(answer));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  atEnd(t, () => server.close());
  const { port } = server.address() as AddressInfo;
  const head = "Content-Type: text/plain\r\nConnection: close\r\n";
  const samples = [
    `HTTP/1.1 200 OK\r\n${head}Content-Length: 2\r\n\r\nOK`,
    `HTTP/1.1 200 OK\r\n${head}Transfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n`,
    `HTTP/1.1 503 Busy\r\n${head}Retry-After: 5\r\nContent-Length: 0\r\n\r\n`,
    `HTTP/1.1 301 Moved\r\n${head}Location: http://127.0.0.1:${port}/\r\nContent-Length: 0\r\n\r\n`,
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
  ];
  const words = ["HTTP/1.1 200", "HTTP/2 ", "HTTP/1.0 ", "410 Gone", "Content-Encoding: gzip\r\n"];
  return {
    name: "receiver-answer",
    inputs: changed(samples, [...words, "Content-Length: 99999999\r\n", "FFFFFFFF\r\n"]),
    async check(input) {
      answer = Buffer.from(input, "latin1");
      const sale = await world.merchant().sale({ server_callback_url: `http://127.0.0.1:${port}` });
      await world.settle();
      const [told] = await world.installation.database.query<{ ended: string | null }>(
        "select ended from callbacks where order_id = $1",
        [sale["gw-order-id"]],
      );
      // Later attempts for other orders get a plain answer.
      answer = Buffer.from(samples[0] ?? "");
      if (told?.ended === "delivered")
        assert.match(input, /^\s*HTTP\/1\.\d 2\d\d|\nHTTP\/1\.\d 2\d\d/);
      return told?.ended ?? "due again";
    },
  };
}

const ids = ["threeDSServerTransID", "acsTransID", "dsTransID"] as const;

/** Results of a challenge as a directory server posts them, with its certificate. */
function makeResults(world: World): Target {
  let waiting: Awaited<ReturnType<typeof beginChallenge>> | undefined;
  let deadlineMs = 0;
  const sample = {
    messageType: "RReq",
    messageVersion: "2.2.0",
    messageCategory: "01",
    ...Object.fromEntries(ids.map((id) => [id, `@${id}`])),
    interactionCounter: "01",
    authenticationType: "02",
    transStatus: "Y",
    eci: "05",
    authenticationValue: "AAECAwQFBgcICQoLDA0ODxAREhM=",
  };
  const text = JSON.stringify(sample);
  return {
    name: "directory-result",
    inputs: fc.oneof(changedMembers([text]), changed([text], ["transStatus", "@acsTransID"])),
    async check(input) {
      // Other targets move the clock.
      if (waiting === undefined || deadlineMs < world.clock.now()) {
        waiting = await beginChallenge(world);
        deadlineMs = world.clock.now() + stepMs;
      }
      const right = await makeResult(world, waiting.status);
      const body = ids.reduce((sent, id) => sent.replaceAll(`@${id}`, String(right[id])), input);
      const { status, text: reply } = await postResult(world, waiting.status, body);
      assert.ok(status < 500, `${status} ${reply}`);
      const { messageType = "" } = reply.startsWith("{") ? JSON.parse(reply) : {};
      if (messageType === "RRes") waiting = undefined;
      return `${status} ${messageType}`;
    },
  };
}

const noncesMax = 30;

/** An accepted header must mean the same as one of the genuine headers. */
async function makeOAuth(world: World): Promise<Target> {
  const pair = makeKeyPair();
  await giveKey(world, "demo", pair);
  const path = `/gw/api/v4/sale/${world.set.endpoints["plain"]}`;
  const fields = saleFields({ client_orderid: "fuzz-oauth" });
  const signer = { consumerKey: "demo", privateKey: pair.privateKey, now: world.clock.now() };
  const headers = Array.from(
    { length: noncesMax },
    () => authorizationFor(`${world.gateway.url}${path}`, fields, signer) ?? "",
  );
  const genuine = new Set(headers.map(meaningOf));
  return {
    name: "oauth-request",
    inputs: changed(headers, ["oauth_nonce", "oauth_signature", "OAuth ", '="', "%2", "realm="]),
    async check(input) {
      const sent = input.replace(/[^\t -~\u0080-\u00ff]/g, "").trim();
      const { status, text } = await send(world.gateway.port, path, fields, sent);
      assert.ok(status < 500, `${status} ${text}`);
      if (status !== 200) return String(status);
      assert.ok(genuine.has(meaningOf(sent)), "a forged signature is accepted");
      return "accepted";
    },
  };
}

/** Returns the meaning of a header, in which the order of parameters does not matter. */
function meaningOf(header: string): string {
  const read = oauth1.parseOAuthHeader(header);
  if (read instanceof oauth1.OAuthFault) return read.reason;
  return JSON.stringify([...read.parameters.map(String).sort(), String(read.signature)]);
}
