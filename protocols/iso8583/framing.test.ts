/** Framing is tested by cutting one stream in every possible way, because TCP does so too. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { FrameFault, FrameReader, type Framing, frame, framings as rows } from "./index.ts";

const framings = Object.keys(rows) as Framing[];
const limit = { payloadBytesMax: 300 };

// biome-ignore format: a table
const written: Readonly<Record<Framing, string>> = {
  "binary-2":           "0004" + "30383030",
  "binary-2-inclusive": "0006" + "30383030",
  "binary-2-tpdu":      "0009" + "6000000000" + "30383030",
  "binary-2-etx":       "0005" + "30383030" + "03",
  "binary-4":           "00000004" + "30383030",
  "bcd-2":              "0004" + "30383030",
  "bcd-2-tpdu":         "0009" + "6000000000" + "30383030",
  "ascii-4":            "30303034" + "30383030",
  "ascii-4-inclusive":  "30303038" + "30383030",
  "hex-4":              "30303034" + "30383030",
};

test("a payload follows its length and is enclosed by its header and trailer", () => {
  for (const framing of framings) {
    assert.equal(frame(framing, Buffer.from("0800")).toString("hex"), written[framing], framing);
  }
});

// biome-ignore format: a table
const longest: readonly (readonly [Framing, payloadBytes: number])[] = [
  ["binary-2", 0xffff], ["binary-2-inclusive", 0xfffd], ["binary-2-tpdu", 0xfffa], ["bcd-2", 9999],
  ["ascii-4",  9999],   ["ascii-4-inclusive",  9995],   ["hex-4",         0xffff],
];

test("a payload that its framing cannot announce is not written", () => {
  for (const [framing, bytes] of longest) {
    const whole = frame(framing, Buffer.alloc(bytes));
    const reader = new FrameReader(framing, { payloadBytesMax: bytes });
    assert.deepEqual(reader.push(whole), [Buffer.alloc(bytes)], framing);
    assert.throws(() => frame(framing, Buffer.alloc(bytes + 1)), /too long/, framing);
  }
});

test("the header of an answer may differ from the one sent", () => {
  const swapped = Buffer.from("0009" + "6000010003" + "30383130", "hex");

  const frames = new FrameReader("binary-2-tpdu", limit).push(swapped);

  assert.deepEqual(frames, [Buffer.from("0810")]);
});

for (const framing of framings) {
  test(`frames come out whole wherever a ${framing} stream is cut`, () => {
    const payloads = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }));
    fc.assert(
      fc.property(payloads, fc.infiniteStream(fc.integer({ min: 0, max: 400 })), (sent, sizes) => {
        const stream = Buffer.concat(sent.map((payload) => frame(framing, payload)));
        const reader = new FrameReader(framing, limit);
        const received: Buffer[] = [];

        for (let at = 0; at < stream.length; ) {
          const size = sizes.next().value;
          received.push(...expectFrames(reader.push(stream.subarray(at, at + size))));
          at += size;
        }

        assert.deepEqual(
          received,
          sent.map((payload) => Buffer.from(payload)),
        );
      }),
    );
  });

  test(`heartbeats are skipped in a ${framing} stream`, () => {
    const heartbeat = frame(framing, Buffer.alloc(0));
    const message = frame(framing, Buffer.from("0800"));
    const reader = new FrameReader(framing, limit);

    const bare = Buffer.alloc(rows[framing].countsItself ? 0 : rows[framing].bytes);
    if (rows[framing].length !== "binary") bare.fill(framing.startsWith("bcd") ? 0 : "0");
    const frames = reader.push(Buffer.concat([heartbeat, message, bare, heartbeat]));

    assert.deepEqual(frames, [Buffer.from("0800")]);
    assert.deepEqual(reader.push(heartbeat), []);
  });

  test(`a ${framing} frame over the limit is a fault, for good`, () => {
    const reader = new FrameReader(framing, limit);
    const whole = frame(framing, Buffer.from("0810"));
    const long = frame(framing, Buffer.alloc(301));

    const fault = reader.push(Buffer.concat([whole, long]));

    assert.deepEqual(fault, new FrameFault("too_long", [Buffer.from("0810")]));
    assert.deepEqual(reader.push(whole), new FrameFault("too_long", []));
  });
}

// biome-ignore format: a table
const malformed: readonly (readonly [Framing, header: string])[] = [
  ["ascii-4", "12 4"], ["ascii-4", "+123"], ["ascii-4", "0x10"], ["ascii-4", "-001"], ["ascii-4", "1e02"],
  ["ascii-4", "\xff\xff\xff\xff"], ["hex-4", "00G0"], ["hex-4", "-001"], ["bcd-2", "\x00\x1a"],
  // These lengths are shorter than the bytes that they must count.
  ["ascii-4-inclusive", "0003"], ["binary-2-inclusive", "\x00\x01"], ["binary-2-inclusive", "\x00\x00"],
  ["binary-2-tpdu", "\x00\x04"], ["bcd-2-tpdu", "\x00\x01"],
];

test("a header without a valid length is a fault", () => {
  for (const [framing, header] of malformed) {
    const reader = new FrameReader(framing, limit);
    const fault = reader.push(Buffer.from(header, "latin1"));
    assert.deepEqual(fault, new FrameFault("malformed_header", []), `${framing} ${header}`);
  }
});

test("frames that arrive complete are not copied", () => {
  const chunk = Buffer.concat([
    frame("binary-2", Buffer.from("one")),
    frame("binary-2", Buffer.from("two")),
  ]);

  const frames = expectFrames(new FrameReader("binary-2", limit).push(chunk));

  assert.deepEqual(frames, [Buffer.from("one"), Buffer.from("two")]);
  for (const { buffer } of frames) assert.equal(buffer, chunk.buffer);
});

test("random chunks never throw", () => {
  for (const framing of framings) {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (chunks) => {
        const reader = new FrameReader(framing, limit);
        for (const chunk of chunks) reader.push(chunk);
      }),
    );
  }
});

function expectFrames(result: readonly Buffer[] | FrameFault): readonly Buffer[] {
  assert.ok(!(result instanceof FrameFault));
  return result;
}
