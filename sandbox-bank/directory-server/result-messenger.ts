/**
 * Carries an RReq to the 3DS Server that asked, over a connection on which both ends show a
 * certificate of the directory's authority, and waits for the RRes. A connection that fails is
 * tried once more; an answer that does not come is not asked for again.
 */
import { Agent, request } from "node:https";
import {
  type Emv3dsMessage,
  MessageFault,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { DirectoryIdentity } from "../certificates/identities.ts";
import { readBody } from "../http-exchange.ts";
import type { ThreeDsMessages } from "../threeds-messages.ts";

export type Surroundings = {
  readonly identity: DirectoryIdentity;
  readonly messages: ThreeDsMessages;
  readonly log: (line: string) => void;
};

const answerTimeoutMs = 5_000;
const answerBytesMax = 1_048_576;

export class ResultMessenger {
  readonly #surroundings: Surroundings;
  readonly #agent: Agent;
  readonly #stopped = new AbortController();

  constructor(surroundings: Surroundings) {
    const { authority, certificate, key } = surroundings.identity;
    this.#surroundings = surroundings;
    this.#agent = new Agent({
      ca: authority,
      cert: certificate,
      key,
      keepAlive: false,
      minVersion: "TLSv1.2",
    });
  }

  /** Done when the RRes is there, or when it is certain that none will come. Never throws. */
  async deliver(rreq: Emv3dsMessage, url: string): Promise<void> {
    const { log, messages } = this.#surroundings;
    const transactionId = textOf(rreq, "threeDSServerTransID") ?? "";
    const text = writeMessage(rreq);
    messages.record({ direction: "sent", type: "RReq", transactionId, fields: rreq });
    try {
      const answer = await this.#postTwice(url, text);
      const rres = readMessage(answer, { types: ["RRes", "Erro"], request: rreq });
      if (rres instanceof MessageFault) {
        log(`The answer to an RReq is no RRes: ${rres.code} ${rres.detail}`);
        return;
      }
      messages.record({
        direction: "received",
        type: rres.messageType,
        transactionId,
        fields: rres,
      });
    } catch (error) {
      log(`An RReq could not be delivered: ${String(error)}`);
    }
  }

  close(): void {
    this.#stopped.abort();
    this.#agent.destroy();
  }

  async #postTwice(url: string, text: string): Promise<string> {
    try {
      return await this.#post(url, text);
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      return this.#post(url, text);
    }
  }

  async #post(url: string, text: string): Promise<string> {
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(answerTimeoutMs)]);
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(text),
    };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const exchange = request(url, { method: "POST", agent: this.#agent, headers, signal });
    exchange.once("error", reject);
    exchange.once("response", (response) => {
      readBody(response, answerBytesMax).then((body) => resolve(body ?? ""), reject);
    });
    exchange.end(text);
    return promise;
  }
}

/** Neither a certificate that is not trusted nor silence: those would be the same again. */
function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"].includes(String(error.code));
}
