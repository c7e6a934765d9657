/**
 * A gateway's 3-D Secure server, for the sandbox bank's own tests. It asks the directory server and
 * receives results, both with the certificate that the sandbox bank has issued for the gateway.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:https";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import {
  type Emv3dsMessage,
  MessageFault,
  readMessage,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import type { Bank } from "../bank.ts";

type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

type Sending = {
  readonly method?: string;
  readonly type?: string;
  readonly signal?: AbortSignal;
  readonly agent?: Agent;
};

export type ThreeDsServer = {
  /** The URL to which the directory server sends results. */
  readonly resultUrl: string;
  readonly results: readonly Emv3dsMessage[];
  /** Answers the next result with this instead of an RRes; `undefined` drops the connection. */
  answerNext(body: string | undefined): void;
  /** Posts to a path of the directory server. */
  post(path: string, body: string, sending?: Sending): Promise<Answered>;
  /** Returns the directory server's answer to a message. */
  ask(message: object): Promise<Emv3dsMessage>;
};

type Cleanup = { after(clean: () => Promise<void>): void };

export async function startThreeDsServer(t: Cleanup, bank: Bank): Promise<ThreeDsServer> {
  const [ca, cert, key] = await Promise.all(
    ["directory-ca.pem", "gateway.pem", "gateway.key"].map((name) =>
      readFile(join(bank.tlsFolder, name), "utf8"),
    ),
  );
  const agent = new Agent({ ca, cert, key });
  const results: Emv3dsMessage[] = [];
  const instead: (string | undefined)[] = [];

  const tls = { ca, cert, key, requestCert: true, rejectUnauthorized: true };
  const server = createServer(tls, async (incoming, response) => {
    const rreq = readMessage(await readAll(incoming), { types: ["RReq"] });
    if (rreq instanceof MessageFault) throw new Error(`no RReq: ${rreq.code} ${rreq.detail}`);
    results.push(rreq);
    const body = instead.length === 0 ? writeMessage(makeRRes(rreq)) : instead.shift();
    if (body === undefined) incoming.socket.destroy();
    else response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(async () => {
    agent.destroy();
    server.close();
    server.closeAllConnections();
  });

  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const post: ThreeDsServer["post"] = (path, body, sending = {}) =>
    send(bank.directoryUrl + path, body, { agent, ...sending });
  return {
    resultUrl: `https://127.0.0.1:${port}/results`,
    results,
    answerNext: (body) => instead.push(body),
    post,
    async ask(message) {
      const { status, body } = await post("/emv3ds", JSON.stringify(message));
      if (status !== 200) throw new Error(`the directory answered ${status}`);
      const types = ["PRes", "ARes", "Erro"] as const;
      const answer = readMessage(body, { types, allowHttp: true });
      if (answer instanceof MessageFault) throw new Error(`${answer.code} ${answer.detail}`);
      return answer;
    },
  };
}

export async function send(url: string, body: string, sending: Sending): Promise<Answered> {
  const { method = "POST", type = "application/json; charset=UTF-8", signal, agent } = sending;
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const outgoing = request(url, {
    method,
    headers: { "content-type": type },
    ...(signal === undefined ? {} : { signal }),
    ...(agent === undefined ? {} : { agent }),
  });
  outgoing.once("error", reject);
  outgoing.once("response", (incoming) => {
    const { statusCode: status = 0, headers } = incoming;
    readAll(incoming).then((text) => resolve({ status, headers, body: text }), reject);
  });
  outgoing.end(body);
  return promise;
}

function makeRRes(rreq: Emv3dsMessage): Emv3dsMessage {
  const { messageVersion, threeDSServerTransID, dsTransID, acsTransID } = rreq;
  const ids = { threeDSServerTransID, dsTransID, acsTransID };
  return { messageType: "RRes", messageVersion, ...ids, resultsStatus: "01" };
}
