/**
 * The directory server: HTTPS for clients with a certificate of the directory's authority. While it
 * is switched off it still accepts connections and requests, and does not answer them, as a server
 * in trouble does.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Identities } from "../certificates/chains.ts";
import { type Address, Listener, makeRequestListener, readBody } from "../http.ts";
import type { ThreeDsContext } from "../threeds-context.ts";
import { answerEmv3ds } from "./emv3ds.ts";
import { answer102 } from "./threeds102.ts";

const bodyBytesMax = 1_048_576;

const xmlTypes = ["application/xml", "text/xml"];

const endpoints = new Map([
  [
    "/emv3ds",
    {
      accepts: ["application/json"],
      answers: "application/json; charset=utf-8",
      answer: answerEmv3ds,
    },
  ],
  [
    "/threeds102",
    { accepts: xmlTypes, answers: "application/xml; charset=utf-8", answer: answer102 },
  ],
]);

export function makeDirectoryServer(
  identity: Identities["directory"],
  address: Address,
  context: ThreeDsContext,
) {
  const unanswered = new Set<ServerResponse>();

  function leaveUnanswered(response: ServerResponse): void {
    unanswered.add(response);
    response.once("close", () => unanswered.delete(response));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const refuse = (status: number, headers = {}) => response.writeHead(status, headers).end();
    const text = await readBody(request, bodyBytesMax);
    if (context.switches.current.directoryDown) return leaveUnanswered(response);
    const url = URL.parse(request.url ?? "", "https://directory");
    const endpoint = endpoints.get(url?.pathname ?? "");
    if (endpoint === undefined) return refuse(404);
    if (request.method !== "POST") return refuse(405, { allow: "POST" });
    const mediaType = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
    if (!endpoint.accepts.includes(mediaType ?? "")) return refuse(415);
    if (text === undefined) return refuse(413);
    const answer = endpoint.answer(text, context);
    if (answer === undefined) return leaveUnanswered(response);
    return response.writeHead(200, { "content-type": endpoint.answers }).end(answer);
  }

  const clientCertificate = { requestCert: true, rejectUnauthorized: true };
  const tls = { ...identity, ...clientCertificate, minVersion: "TLSv1.2" } as const;
  return {
    listener: new Listener(createServer(tls, makeRequestListener(handle, context.log)), address),
    /** Closes the connections of all requests that were left without an answer. */
    dropUnanswered(): void {
      for (const response of unanswered) response.destroy();
      unanswered.clear();
    },
  };
}
