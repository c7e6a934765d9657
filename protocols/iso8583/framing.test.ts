/** Framing is tested by cutting one stream in every way, because TCP does. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { FrameFault, FrameReader, type Framing, frame } from "./index.ts";

const framings: readonly Framing[] = ["binary-2", "ascii-4"];
const limit = { payloadBytesMax: 300 };

test("a length stands before the payload and does not count itself", () => {
  const payload = Buffer.from("0800");

  assert.equal(frame("binary-2", payload).toString("hex"), "000430383030");
  assert.equal(frame("ascii-4", payload).toString("latin1"), "00040800");
});

test("a payload that its framing cannot announce is not written", () => {
  assert.equal(frame("binary-2", Buffer.alloc(0xffff)).length, 0x10001);
  assert.throws(() => frame("binary-2", Buffer.alloc(0x10000)), /too long/);
  assert.equal(frame("ascii-4", Buffer.alloc(9999)).length, 10003);
  assert.throws(() => frame("ascii-4", Buffer.alloc(10000)), /too long/);
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

    const frames = reader.push(Buffer.concat([heartbeat, message, heartbeat, heartbeat]));

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

test("a header that is not four digits is a fault", () => {
  for (const header of ["12 4", "+123", "0x10", "-001", "1e02", "\xff\xff\xff\xff"]) {
    const reader = new FrameReader("ascii-4", limit);
    const fault = reader.push(Buffer.from(header, "latin1"));
    assert.deepEqual(fault, new FrameFault("malformed_header", []), header);
  }
});

test("frames that arrive whole are not copied", () => {
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
