/**
 * One connection to a receiver: a request at a time. What is said unasked ends it, and so does an
 * answer after which nobody can be sure where the next one would begin.
 */
import type { Socket } from "node:net";
import { type AnswerReader, makeAnswerReader } from "@tollgate/protocols/http1";

export type Connection = {
  /** Never throws: how far the answer came, and what went wrong with it. */
  ask(request: string): Promise<Reading>;
  /** Ends it, whatever is under way. */
  cut(): void;
};

export type Reading = {
  readonly reader: AnswerReader;
  readonly trouble: Error | undefined;
};

const limits = { headBytesMax: 16_384, bodyBytesMax: 65_536, startBytesMax: 512 };
const idleMs = 30_000;

export function makeConnection(socket: Socket, onClose: () => void): Connection {
  let reader: AnswerReader | undefined;
  let finish: (reading: Reading) => void = () => undefined;
  let trouble: Error | undefined;

  socket.setTimeout(idleMs);
  socket.on("data", (chunk: Buffer) => {
    if (reader === undefined) socket.destroy();
    else if (reader.take(chunk) === "done") settle();
  });
  socket.on("timeout", () => {
    if (reader === undefined) socket.destroy();
  });
  socket.on("error", (error) => {
    trouble = error;
  });
  socket.on("close", () => {
    settle();
    onClose();
  });
  return { ask, cut };

  function ask(request: string): Promise<Reading> {
    reader = makeAnswerReader(limits);
    const { promise, resolve } = Promise.withResolvers<Reading>();
    finish = resolve;
    if (socket.destroyed) settle();
    else socket.write(request);
    return promise;
  }

  function settle(): void {
    if (reader === undefined) return;
    const read = reader;
    reader = undefined;
    if (!read.isReusable) socket.destroy();
    finish({ reader: read, trouble });
  }

  function cut(): void {
    socket.destroy();
    settle();
  }
}
