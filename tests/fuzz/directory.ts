/**
 * Answers of directory servers and issuers over real sockets: ARes and PRes, VERes and CRRes of
 * 1.0.2 with the HTTP around them, and the PARes that a browser posts. No answer authenticates an
 * order to which it does not belong, and no refused answer changes the card ranges.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as threeds102 from "@tollgate/protocols/threeds102";
import fc from "fast-check";
import { makeAres, makePres, transaction } from "../../protocols/emv3ds/testing.ts";
import { crRes, veRes } from "../../protocols/threeds102/samples.ts";
import { startAnsweringDirectory } from "../support/bank/answering-directory.ts";
import { answerPareq } from "../support/cardholder.ts";
import type { Test } from "../support/clean-up.ts";
import { beginPares, beginWith, cards, proofAtHost, statusOf } from "../support/threeds.ts";
import { until } from "../support/until.ts";
import { formOf } from "../support/wire.ts";
import type { World } from "../support/world.ts";
import { applyEdit, changed, changedMembers, type Edit, editsWith, xmlWords } from "./changed.ts";
import type { Target } from "./target.ts";

type Directory = Awaited<ReturnType<typeof startAnsweringDirectory>>;

export async function makeDirectoryTargets(t: Test, world: World): Promise<readonly Target[]> {
  const directory = await startAnsweringDirectory(t, world);
  return [
    makeAuthentications(world, directory),
    makeEnrolments(world, directory),
    makeRanges(world, directory),
    await makePaRes(world),
  ];
}

/** The id of the previous order in samples. The order's own id is the samples' `transaction`. */
const another = "0e1d2c3b-4a59-4687-8796-a5b4c3d2e1f0";
const words = [
  ...[another, transaction, '"transStatus":"Y",', '"messageType":"Erro",', "\\u0059", "2.1.0"],
  ...["HTTP/1.1 200", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.0 ", "204 ", "302 ", "\ufeff"],
  ...["Transfer-Encoding: chunked\r\n", "Content-Length: 9\r\n", "0\r\n\r\n", "FFFFFFFF\r\n"],
];
/** Framing and message are changed together, so more changes would hardly leave an answer. */
const few = { changesMax: 2 };
const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n";

/** Returns a body in all framings of HTTP. Ids are replaced by others of the same length. */
function framed(body: string): readonly string[] {
  const { length } = Buffer.from(body);
  const [first, rest] = [body.slice(0, 40), body.slice(40)];
  const size = (part: string) => Buffer.byteLength(part).toString(16);
  const last = "0\r\nx: y\r\n\r\n";
  const chunks = `${size(first)};a="b"\r\n${first}\r\n${size(rest)}\r\n${rest}\r\n${last}`;
  return [
    `${head}Connection: close\r\n\r\n${body}`,
    `${head}Content-Length: ${length}\r\n\r\n${body}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`,
  ];
}

/** Changed members of any text, sent as UTF-8. */
const membersOf = (samples: readonly string[]) =>
  changedMembers(samples).map((json) => `${head}\r\n${Buffer.from(json).toString("latin1")}`);

const challenge = { acsURL: "https://acs.example/", acsChallengeMandated: "Y" };
const aresSamples = [
  makeAres("2.2.0"),
  makeAres("2.2.0", { transStatus: "A", eci: "06" }),
  makeAres("2.2.0", { threeDSServerTransID: another }),
  makeAres("2.2.0", { messageVersion: "2.1.0" }),
  ...["N", "R", "U"].map((transStatus) => makeRefused(transStatus)),
  { ...makeRefused("C"), ...challenge, authenticationType: "02", transStatusReason: undefined },
].map((message) => JSON.stringify(message));

function makeRefused(transStatus: string) {
  const without = { eci: undefined, authenticationValue: undefined };
  return makeAres("2.2.0", { transStatus, transStatusReason: "01", ...without });
}

function makeAuthentications(world: World, directory: Directory): Target {
  let previous: string = another;
  return {
    name: "directory-ares",
    inputs: fc.oneof(
      membersOf(aresSamples),
      changed(aresSamples.flatMap(framed), words, few),
      fc.constantFrom(...aresSamples.flatMap(framed)),
    ),
    async check(input) {
      let [id, sent] = [previous, "never asked"];
      directory.answer((asked) => {
        if (!asked.includes('"AReq"')) return undefined;
        const { threeDSServerTransID } = JSON.parse(asked);
        sent = input.replaceAll(another, previous).replaceAll(transaction, threeDSServerTransID);
        id = threeDSServerTransID;
        return Buffer.from(sent, "latin1");
      });
      const status = await statusOf(await beginWith(world, cards.frictionlessNoMethod));
      assert.notEqual(sent, "never asked");
      previous = id;
      const { "verified-3d-status": verified, "tds-status": step } = status;
      if (step === "CReqForm") assertSays(sent, id, "C");
      if (verified === "AUTHENTICATED") {
        const { eci, authenticationValue: value } = assertSays(sent, id, "YA");
        const proof = await proofAtHost(world, status);
        if (value !== undefined) assert.deepEqual(proof, { eci: eci ?? proof?.eci, value });
      }
      if (verified === "NOT_AUTHENTICATED") assertSays(sent, id, "NR");
      // Without a valid answer, the endpoint's policy lets the payment continue.
      if (verified === "UNSUPPORTED") assert.equal(status.status, "approved");
      assert.match(`${step ?? ""} ${verified ?? ""}`, /CReqForm|AUTHENTICATED|UNSUPPORTED/);
      return step ?? verified ?? "";
    },
  };
}

/** Asserts that the ARes names this order and one of the results, if its framing is plain. */
function assertSays(sent: string, id: string, results: string): Readonly<Record<string, string>> {
  const said = bodyOf(sent);
  if (said === undefined) {
    assert.match(sent, new RegExp(`"transStatus":"[${results}]"`));
    assert.ok(sent.includes(id), "the answer is of another order");
    return {};
  }
  assert.equal(String(said["threeDSServerTransID"]).toLowerCase(), id, "it is of another order");
  assert.ok(results.includes(said["transStatus"] ?? "?"), `it says ${said["transStatus"]}`);
  return said;
}

function bodyOf(sent: string): Record<string, string> | undefined {
  const [heads = "", ...parts] = sent.split("\r\n\r\n");
  if (/transfer-encoding|content-length/i.test(heads)) return undefined;
  try {
    return JSON.parse(Buffer.from(parts.join("\r\n\r\n"), "latin1").toString());
  } catch {
    return undefined;
  }
}

const { url: _, ...notEnrolled } = veRes;

/** A VERes names no order. It only sends the browser to the issuer, whose answer decides. */
function makeEnrolments(world: World, directory: Directory): Target {
  const samples = [veRes, { ...notEnrolled, ch: { enrolled: "N" as const } }].map((each) =>
    threeds102.writeXml("VERes", each),
  );
  return {
    name: "directory-veres",
    inputs: changed(samples.flatMap(framed), [...words, ...xmlWords, "enrolled", "<IReq>"]),
    async check(input) {
      directory.answer((asked) =>
        asked.includes("<VEReq") ? Buffer.from(input, "latin1") : undefined,
      );
      const status = await statusOf(await beginWith(world, cards.v1Authenticated));
      const { "verified-3d-status": verified, "tds-status": step } = status;
      if (step === "PaReqForm") assert.match(input, /Y/);
      else assert.deepEqual([verified, status.status], ["UNSUPPORTED", "approved"]);
      return step ?? verified ?? "";
    },
  };
}

const range = {
  startRange: "4000002000000000",
  endRange: "4000002099999999",
  actionInd: "A",
  acsStartProtocolVersion: "2.1.0",
  acsEndProtocolVersion: "2.2.0",
  acsInfoInd: ["01"],
  dsStartProtocolVersion: "2.1.0",
  dsEndProtocolVersion: "2.2.0",
  threeDSMethodURL: "https://acs.example/method",
};
const removed = { ...range, actionInd: "D", startRange: "5000000000000000" };
/** These are so many ranges that a separate thread reads them. */
const many = Array.from({ length: 400 }, (_, at) => {
  const prefix = String(620_000_000_000 + 2 * at);
  return { ...range, startRange: `${prefix}0000`, endRange: `${prefix}9999` };
});
const presOf = (...ranges: readonly object[]) =>
  JSON.stringify(makePres("2.2.0", {}, { messageVersion: "2.2.0", cardRangeData: ranges }));
const short = [presOf(range, removed), presOf(range), JSON.stringify(makePres("2.2.0", range))];
const long = [presOf(...many)];
const crResText = threeds102.writeXml("CRRes", crRes);

const unsupported = JSON.stringify({
  messageType: "Erro",
  messageVersion: "2.3.1",
  threeDSServerTransID: transaction,
  errorCode: "102",
  errorComponent: "D",
  errorMessageType: "PReq",
  errorDescription: "version",
  errorDetail: "2.2.0",
});

const rangeWords = ['"actionInd":"D",', '"cardRangeData":[', "2.3.1", "9999999999999999999"];
const rangeInputs: fc.Arbitrary<string> = fc.oneof(
  ...(["whole", "changes"] as const).map((how) =>
    fc
      .oneof(
        fc.constantFrom(...[...short, ...long].flatMap(framed)),
        ...[membersOf(short), changed(short.flatMap(framed), [...words, ...rangeWords], few)],
        ...[membersOf(long), changed(long.flatMap(framed), [...words, ...rangeWords], few)],
      )
      .map((answer) => `2 ${how}\n${answer}`),
  ),
  changed(framed(crResText), [...words, ...xmlWords], few).map((answer) => `1 whole\n${answer}`),
);

/** The first step of a card with the bank's own list. */
const known = {
  "1": { card: cards.v1Authenticated, step: "PaReqForm" },
  "2": { card: cards.frictionless, step: "MethodUrlFrame" },
} as const;

type List = { readonly failures: number };
type Stored = { readonly first: string; readonly last: string; readonly version: string };

function makeRanges(world: World, directory: Directory): Target {
  const { readRanges, refresh } = makeLists(world);
  let seen = 0;
  return {
    name: "directory-ranges",
    inputs: rangeInputs,
    async check(input) {
      const [kind = "", ...lines] = input.split("\n");
      const [protocol = "", how = ""] = kind.split(" ");
      const before = await readRanges(protocol);
      directory.answer((asked) => {
        if (!asked.includes(protocol === "2" ? '"PReq"' : "<CRReq")) return undefined;
        const [, id = ""] = /"threeDSServerTransID":"([^"]+)"/.exec(asked) ?? [];
        // The newest version is requested first.
        const isNewer = asked.includes('"2.3.1"');
        const answer = isNewer ? `${head}\r\n${unsupported}` : lines.join("\n");
        return Buffer.from(answer.replaceAll(transaction, id), "latin1");
      });
      const { failures } = await refresh(protocol, how);
      directory.answer(() => undefined);
      const after = await readRanges(protocol);
      if (failures > 0) assert.deepEqual(after, before, "a refused list has changed the ranges");
      for (const { first, last, version } of after) {
        assert.match(`${first} ${last} ${version}`, /^\d{19} \d{19} (1\.0\.2|2\.[123]\.[01])$/);
      }
      const failed = world.logged.slice(seen).filter((line) => line.includes("could not refresh"));
      seen = world.logged.length;
      assert.deepEqual(failed, [], "a list that was read could not be stored");
      if (failures > 0) return "refused";
      const { card, step } = known[protocol === "2" ? "2" : "1"];
      // With any ranges, an order waits for the browser or ends.
      const first = await payWith(card);
      assert.ok(first["tds-status"] !== undefined || first.status !== "processing");
      assert.equal((await refresh(protocol, "whole")).failures, 0, "a good list is refused");
      // The list is stored first, and soon afterwards in the node's memory.
      await until("the node has the good list", async () =>
        (await payWith(card))["tds-status"] === step ? true : undefined,
      );
      return `accepted, ${kind}`;
    },
  };

  async function payWith(card: string) {
    return statusOf(await beginWith(world, card));
  }
}

/** Reads the stored lists of the world's directory server. */
function makeLists({ installation: { database } }: World) {
  const { query } = database;
  return { readRanges, refresh };

  function readRanges(protocol: string) {
    return query<Stored>(
      `select first, last, version, method_url from card_ranges
       where directory = 'sandbox' and protocol = $1 order by first, last`,
      [protocol],
    );
  }

  /**
   * Refreshes the list as `gw directory refresh` does, or as a day later, when the list has a
   * serial number.
   */
  async function refresh(protocol: string, how: string): Promise<List> {
    await query(
      `update card_range_lists set due_at = 'epoch', claim = null, failures = 0,
         version = $2, serial_number = $3 where directory = 'sandbox' and protocol = $1`,
      [protocol, ...(how === "whole" ? [null, null] : ["2.2.0", "6"])],
    );
    await query("select pg_notify('tollgate_configuration', '')");
    return until("the card ranges were asked for", async () => {
      const [list] = await query<List>(
        `select failures from card_range_lists
         where directory = 'sandbox' and protocol = $1 and claim is null and due_at > 'epoch'`,
        [protocol],
      );
      return list;
    });
  }
}

/** Fuzzes the issuer's answer, changed inside its packing, as the cardholder's browser posts it. */
async function makePaRes(world: World): Promise<Target> {
  const roots = [await readFile(join(world.bank.tlsFolder, "pares-root.pem"), "utf8")];
  const read = (xml: string) => threeds102.verifyPaRes(xml, { roots, now: world.clock.now() });
  let [waiting, previous] = [await begin(), ""];
  return {
    name: "issuer-pares",
    inputs: fc
      .tuple(fc.constantFrom("own", "own", "previous"), editsWith(4_000, xmlWords))
      .map((given) => JSON.stringify(given)),
    async check(input) {
      const [whose, edits]: readonly ["own" | "previous", readonly Edit[]] = JSON.parse(input);
      if (waiting.deadlineMs < world.clock.now()) waiting = await begin();
      const { pending, md, xml, path } = waiting;
      const genuine = whose === "own" || previous === "" ? xml : previous;
      const changedXml = edits.reduce(applyEdit, Buffer.from(genuine)).toString();
      const answer = await fetch(`${world.gateway.url}${path}`, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: formOf({ PaRes: threeds102.packPa(changedXml), MD: md }),
      });
      assert.ok(answer.status < 500, String(answer.status));
      await world.settle();
      const status = await statusOf(pending);
      if (status["tds-status"] === "PaReqForm") return "refused";
      const { "verified-3d-status": verified } = status;
      if (verified === "AUTHENTICATED") {
        assert.equal(genuine, xml, "the answer is of another order");
        assert.deepEqual(read(changedXml), read(xml), "a forged PARes is accepted");
      } else assert.deepEqual([verified, status.status], ["NOT_AUTHENTICATED", "declined"]);
      [waiting, previous] = [await begin(), xml];
      return String(verified);
    },
  };

  async function begin() {
    const pending = await beginPares(world);
    const { paRes, md } = await answerPareq(pending.status, "https://shop.example/term");
    const xml = threeds102.unpackPa(paRes);
    assert.ok(typeof xml === "string");
    const { pathname } = new URL(String(pending.status["redirect-to"]));
    const path = pathname.replace("/redirect/", "/pares/");
    return { pending, md, xml, path, deadlineMs: world.clock.now() + stepMs };
  }
}

/** This is less than the cardholder has for a step. */
export const stepMs = 300_000;
