/**
 * A directory server of the test in front of the bank's. A request reaches the bank, unless the
 * test has an answer of its own, which it writes as bytes, with or without HTTP.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, request as sendRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { atEnd, type Test } from "../clean-up.ts";
import type { World } from "../world.ts";

/**
 * Returns the bytes that go to the gateway before the connection ends, or undefined to let the bank
 * answer.
 */
export type AnswerTo = (asked: string) => Buffer | undefined;

/** Starts the server, and makes it the directory server of the world. */
export async function startAnsweringDirectory(t: Test, world: World) {
  const { bank, installation } = world;
  const read = (name: string) => readFile(join(bank.tlsFolder, name), "utf8");
  const ca = await read("directory-ca.pem");
  const own = { ca, cert: await read("directory.pem"), key: await read("directory.key") };
  const client = { ca, cert: await read("gateway.pem"), key: await read("gateway.key") };
  let answerTo: AnswerTo = () => undefined;
  const server = createServer({ ...own, requestCert: true }, async (request, response) => {
    const asked = await readAll(request);
    const answer = answerTo(asked);
    if (answer === undefined) pass(request, asked, response);
    else request.socket.end(answer);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { url: `${url}/emv3ds`, url102: `${url}/threeds102` };
  await installation.database.query(
    "update directory_servers set settings = settings || $1 where name = 'sandbox'",
    [JSON.stringify(settings)],
  );
  await world.restart();

  return {
    answer(next: AnswerTo): void {
      answerTo = next;
    },
  };

  function pass(
    { url: path = "", method, headers }: IncomingMessage,
    body: string,
    response: ServerResponse,
  ) {
    const options = { ...client, method, headers, agent: false };
    const sent = sendRequest(`${bank.directoryUrl}${path}`, options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on("error", () => response.destroy());
    sent.end(body);
  }
}
