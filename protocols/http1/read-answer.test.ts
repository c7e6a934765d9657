/** Answers as they come: whole, in pieces, broken, and from somebody who means harm. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAnswerReader } from "./index.ts";

const limits = { headBytesMax: 200, bodyBytesMax: 100, startBytesMax: 10 };
const ok = "HTTP/1.1 200 OK\r\n";

/** The same answer in one piece, byte by byte, and cut in two at every place. */
function* waysToCome(text: string): Iterable<readonly Buffer[]> {
  const all = Buffer.from(text, "latin1");
  yield [all];
  yield Array.from(all, (byte) => Buffer.from([byte]));
  for (let cut = 1; cut < all.length; cut += 1) yield [all.subarray(0, cut), all.subarray(cut)];
}

function read(chunks: readonly Buffer[]) {
  const reader = makeAnswerReader(limits);
  const done = chunks.findIndex((chunk) => reader.take(chunk) === "done");
  const { answer, fault, start, isReusable } = reader;
  return {
    status: answer?.status,
    fault,
    start: start.toString("latin1"),
    isReusable,
    isDone: done === chunks.length - 1,
  };
}

// biome-ignore format: a table
const whole: readonly (readonly [name: string, text: string, start: string, isReusable: boolean])[] = [
  ["a length",              `${ok}Content-Length: 2\r\n\r\nOK`,                                    "OK",         true],
  ["no body",               `${ok}content-length:0\r\n\r\n`,                                       "",           true],
  ["no content",            "HTTP/1.1 204\r\n\r\n",                                                "",           true],
  ["chunks",                `${ok}Transfer-Encoding: Chunked\r\n\r\n2;a=b\r\nOK\r\n1\r\n!\r\n0\r\n\r\n`, "OK!",  true],
  ["chunks with trailers",  `${ok}transfer-encoding: chunked\r\n\r\n0\r\na: b\r\n\r\n`,            "",           true],
  ["a word in between",     `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 2\r\n\r\nOK`,       "OK",         true],
  ["more than is kept",     `${ok}Content-Length: 12\r\n\r\n0123456789ab`,                         "0123456789", true],
  ["it closes",             `${ok}Connection: Close\r\nContent-Length: 2\r\n\r\nOK`,               "OK",         false],
  ["an older version",      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nOK",                      "OK",         false],
  ["two lengths",           `${ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\nOK`,               "OK",         false],
  ["a line that is none",   `${ok}Content-Length: 2\r\n folded\r\n\r\nOK`,                         "OK",         false],
];

for (const [name, text, start, isReusable] of whole) {
  test(`an answer with ${name} is read whole, however it comes`, () => {
    for (const chunks of waysToCome(text)) {
      const found = read(chunks);
      assert.deepEqual(
        found,
        {
          status: text.includes("204") ? 204 : 200,
          fault: undefined,
          start,
          isReusable,
          isDone: true,
        },
        chunks.map(String).join("|"),
      );
    }
  });
}

// biome-ignore format: a table
const open: readonly (readonly [name: string, text: string])[] = [
  ["neither length nor chunks", `${ok}\r\nOK`],
  ["another coding",            `${ok}Transfer-Encoding: gzip, chunked\r\n\r\nOK`],
  ["both length and chunks",    `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nOK`],
  ["a length that is none",     `${ok}Content-Length: +2\r\n\r\nOK`],
  ["too short a body",          `${ok}Content-Length: 3\r\n\r\nOK`],
];

for (const [name, text] of open) {
  test(`an answer with ${name} lasts until the connection ends, which is used no more`, () => {
    const found = read([Buffer.from(text)]);
    assert.deepEqual(found, {
      ...{ status: 200, fault: undefined, start: "OK", isReusable: false, isDone: false },
    });
  });
}

// biome-ignore format: a table
const broken: readonly (readonly [name: string, text: string])[] = [
  ["a chunk without a size",    `${ok}Transfer-Encoding: chunked\r\n\r\nx\r\n`],
  ["a negative chunk",          `${ok}Transfer-Encoding: chunked\r\n\r\n-1\r\n`],
  ["a chunk that is too long",  `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\nAB\r\n`],
  ["an endless size",           `${ok}Transfer-Encoding: chunked\r\n\r\n${"0".repeat(1_100)}`],
  ["a second answer behind it", `${ok}Content-Length: 0\r\n\r\n${ok}`],
  ["more than is read",         `${ok}\r\n${"x".repeat(101)}`],
];

for (const [name, text] of broken) {
  test(`after ${name} the status counts, and the connection is used no more`, () => {
    const { status, isReusable, isDone } = read([Buffer.from(text)]);
    assert.deepEqual(
      { status, isReusable, isDone },
      { status: 200, isReusable: false, isDone: true },
    );
  });
}

// biome-ignore format: a table
const refused: readonly (readonly [name: string, text: string, fault: RegExp])[] = [
  ["another protocol",      "SSH-2.0-x\r\n\r\n",                                   /does not answer in HTTP/],
  ["a status that is none", "HTTP/1.1 999 OK\r\n\r\n",                             /does not answer in HTTP/],
  ["a change of protocol",  "HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", /something else/],
  ["headers without end",   `${ok}a: ${"x".repeat(200)}`,                          /no end/],
  ["too long headers",      `${ok}a: ${"x".repeat(200)}\r\n\r\n`,                  /no end/],
  ["lines of another kind", "HTTP/1.1 200 OK\nContent-Length: 2\n\nOK",            /lines do not end/],
  ["words without end",     "HTTP/1.1 100 Continue\r\n\r\n".repeat(20),            /no end/],
];

for (const [name, text, fault] of refused) {
  test(`${name} is no answer`, () => {
    for (const chunks of [
      [Buffer.from(text)],
      Array.from(text, (character) => Buffer.from(character)),
    ]) {
      const found = read(chunks);
      assert.equal(found.status, undefined);
      assert.match(found.fault ?? "", fault);
      assert.equal(found.isReusable, false);
    }
  });
}

test("no line takes long to read, whatever stands in it", () => {
  const roomy = { headBytesMax: 16_384, bodyBytesMax: 100, startBytesMax: 10 };
  const spaces = " ".repeat(16_000);
  const before = process.cpuUsage();
  for (const line of [`a:${spaces}\n`, `a: x${spaces}x`, `a${spaces}: b`, `a:${spaces}`]) {
    const reader = makeAnswerReader(roomy);
    reader.take(Buffer.from(`${ok}${line}\r\nContent-Length: 0\r\n\r\n`));
    assert.equal(reader.answer?.status, 200);
  }
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 200_000, `${user + system} µs`);
});
