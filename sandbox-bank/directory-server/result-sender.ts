/**
 * Sends RReqs to the 3DS Server, over TLS with certificates of the directory's authority on both
 * sides, and reads the RRes. It tries once more after a failed connection, but not after a missing
 * answer.
 */
import { Agent, request } from "node:https";
import { setTimeout } from "node:timers/promises";
import {
  type Emv3dsMessage,
  MessageFault,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { BankContext } from "../bank-context.ts";
import type { Identities } from "../certificates/chains.ts";
import { readBody } from "../http.ts";
import type { ThreeDsMessages } from "../message-log.ts";

const answerBytesMax = 1_048_576;

export type ResultSender = ReturnType<typeof makeResultSender>;

export function makeResultSender(
  identity: Identities["directory"],
  messages: ThreeDsMessages,
  { log, resultTimeoutMs }: Pick<BankContext, "log" | "resultTimeoutMs">,
) {
  const agent = new Agent({ ...identity, keepAlive: false, minVersion: "TLSv1.2" });
  const stopped = new AbortController();
  return { deliver, close };

  /** Resolves when the RRes has arrived, or when it is certain that none will. Never rejects. */
  async function deliver(rreq: Emv3dsMessage, url: string, afterMs: number): Promise<void> {
    const { signal } = stopped;
    const transactionId = textOf(rreq, "threeDSServerTransID") ?? "";
    try {
      if (afterMs > 0) await setTimeout(afterMs, undefined, { signal });
      const text = writeMessage(rreq);
      messages.record("sent", "RReq", transactionId, rreq);
      const answer = await post(url, text).catch((error) => {
        if (isConnectionFailure(error)) return post(url, text);
        throw error;
      });
      const rres = readMessage(answer, { types: ["RRes", "Erro"], request: rreq });
      if (rres instanceof MessageFault) {
        log(`The answer to an RReq is not an RRes: ${rres.code} ${rres.detail}`);
      } else {
        messages.record("received", rres.messageType, transactionId, rres);
      }
    } catch (error) {
      if (!signal.aborted) log(`An RReq could not be delivered: ${String(error)}`);
    }
  }

  function close(): void {
    stopped.abort();
    agent.destroy();
  }

  function post(url: string, text: string): Promise<string> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(resultTimeoutMs)]);
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(text),
    };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const exchange = request(url, { method: "POST", agent, headers, signal });
    exchange.once("error", reject);
    exchange.once("response", (response) => {
      readBody(response, answerBytesMax).then((body) => resolve(body ?? ""), reject);
    });
    exchange.end(text);
    return promise;
  }
}

/**
 * Returns whether a second try may succeed. An untrusted certificate and a timeout would stay the
 * same.
 */
function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"].includes(String(error.code));
}
