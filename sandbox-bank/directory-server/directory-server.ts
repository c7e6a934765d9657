/**
 * The directory server's door: HTTPS for those who show a certificate of the directory's own
 * authority. When it is switched off it still takes connections and requests, and stays silent,
 * as a server in trouble does.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { DirectoryIdentity } from "../certificates/identities.ts";
import { readBody } from "../http-exchange.ts";
import { listenOn } from "../listen-on.ts";
import type { Answer } from "./emv3ds-desk.ts";

export type Door = {
  readonly identity: DirectoryIdentity;
  readonly isDown: () => boolean;
  readonly answerEmv: (text: string) => Answer;
  readonly answer102: (text: string) => Answer;
  readonly log: (line: string) => void;
};

type Desk = {
  readonly mediaTypes: readonly string[];
  readonly writes: string;
  readonly answer: (text: string) => Answer;
};

const bodyBytesMax = 1_048_576;

export class DirectoryServer {
  readonly #door: Door;
  readonly #desks: ReadonlyMap<string, Desk>;
  readonly #server: Server;
  /** Also those that have not shown a certificate yet. */
  readonly #sockets = new Set<Socket>();
  readonly #unanswered = new Set<ServerResponse>();
  #port = 0;

  constructor(door: Door) {
    const { identity } = door;
    this.#door = door;
    this.#desks = makeDesks(door);
    this.#server = createServer(
      {
        ca: identity.authority,
        cert: identity.certificate,
        key: identity.key,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: "TLSv1.2",
      },
      (request, response) => this.#reply(request, response),
    );
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    return this.#port;
  }

  async open(address: { readonly host: string; readonly port: number }): Promise<void> {
    this.#port = await listenOn(this.#server, address);
  }

  /** Lets go of everyone who still waits for an answer that will never come. */
  dropUnanswered(): void {
    for (const response of this.#unanswered) response.destroy();
    this.#unanswered.clear();
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    for (const socket of this.#sockets) socket.destroy();
    await promise;
  }

  async #reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response);
    } catch (error) {
      this.#door.log(`A directory request failed: ${String(error)}`);
      if (response.headersSent) response.destroy();
      else refuse(response, 500);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request, bodyBytesMax);
    if (this.#door.isDown()) return this.#leave(response);
    const desk = this.#desks.get(URL.parse(request.url ?? "", "https://ds")?.pathname ?? "");
    if (desk === undefined) return refuse(response, 404);
    if (request.method !== "POST") return refuse(response, 405, { allow: "POST" });
    const mediaType = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (!desk.mediaTypes.includes(mediaType ?? "")) return refuse(response, 415);
    if (text === undefined) return refuse(response, 413);
    const answer = desk.answer(text);
    if (answer === "silence") return this.#leave(response);
    const body = answer === "nothing" ? "" : answer.text;
    response.writeHead(200, { "content-type": desk.writes }).end(body);
  }

  #leave(response: ServerResponse): void {
    this.#unanswered.add(response);
    response.once("close", () => this.#unanswered.delete(response));
  }
}

function makeDesks({ answerEmv, answer102 }: Door): ReadonlyMap<string, Desk> {
  const xml = ["application/xml", "text/xml"];
  // biome-ignore format: a table
  return new Map<string, Desk>([
    ["/emv3ds",     { mediaTypes: ["application/json"], writes: "application/json; charset=utf-8", answer: answerEmv }],
    ["/threeds102", { mediaTypes: xml,                  writes: "application/xml; charset=utf-8",  answer: answer102 }],
  ]);
}

function refuse(response: ServerResponse, status: number, headers = {}): void {
  response.writeHead(status, headers).end();
}
