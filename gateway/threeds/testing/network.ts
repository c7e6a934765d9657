/**
 * A network's directory server for tests. It answers as the test says, and records the requests.
 */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { text as readAll } from "node:stream/consumers";
import type { DirectoryServer, DirectorySettings } from "../directory-client.ts";
import { type Made, makeCertificates } from "./certificates.ts";

export type Received = { readonly path: string; readonly text: string; readonly socket: Socket };

export type Network = {
  readonly url: string;
  readonly certificates: Made;
  readonly received: readonly Received[];
  /** The answer's text, in parts if it is long. `undefined` breaks the connection. */
  answer: (received: Received) => Answer | Promise<Answer>;
  /** Adds a directory server at a path of its own. */
  server(name: string, settings?: Partial<DirectorySettings>): DirectoryServer;
};

/** A part that is `undefined` breaks the connection after those before it. */
type Answer = string | undefined | Iterable<string | undefined>;

type Cleanup = { after(clean: () => void): void };

export async function startNetwork(t: Cleanup): Promise<Network> {
  const certificates = makeCertificates(t);
  certificates.issue("root", undefined, true);
  certificates.issue("network", "root");
  certificates.issue("gateway", "root");
  const received: Received[] = [];
  const { read, pathOf } = certificates;
  const tls = { ca: read("root.pem"), cert: read("network.pem"), key: read("network.key") };
  const server = createServer({ ...tls, requestCert: true }, async (request, response) => {
    const one = { path: request.url ?? "", text: await readAll(request), socket: request.socket };
    received.push(one);
    const body = await network.answer(one);
    for (const part of typeof body === "object" ? body : [body]) {
      if (part === undefined) {
        request.socket.destroy();
        return;
      }
      if (!response.write(part)) await once(response, "drain");
    }
    response.end();
  });
  // The server never closes a connection first.
  server.keepAliveTimeout = 60_000;
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const network: Network = {
    url,
    certificates,
    received,
    answer: () => undefined,
    server: (name, settings = { url: `${url}/${name}` }) => ({
      name,
      networks: [],
      settings: {
        certificateFile: pathOf("gateway.pem"),
        keyFile: pathOf("gateway.key"),
        authorityFile: pathOf("root.pem"),
        referenceNumber: "3DS_LOA_SER_TEST",
        operatorId: "10000000001",
        requestorId: "TEST",
        requestorName: "Test",
        requestorUrl: "https://shop.example",
        ...settings,
      },
    }),
  };
  return network;
}

export type SentRange = readonly [start: string, end: string, action?: string];

/** The network supports versions up to 2.2.0. */
export function writePRes(preq: string, ranges: readonly SentRange[], serialNum = "1"): string {
  const { messageVersion, threeDSServerTransID } = JSON.parse(preq);
  if (messageVersion === "2.3.1") return writeErro(preq, "102");
  const versions = { dsStartProtocolVersion: "2.1.0", dsEndProtocolVersion: "2.2.0" };
  const cardRangeData = ranges.map(([startRange, endRange, actionInd = "A"]) => ({
    startRange,
    endRange,
    actionInd,
    ...versions,
    acsInfoInd: ["01"],
    acsStartProtocolVersion: "2.2.0",
    acsEndProtocolVersion: "2.2.0",
  }));
  return JSON.stringify({
    messageType: "PRes",
    messageVersion,
    threeDSServerTransID,
    serialNum,
    ...versions,
    dsTransID: "8a880dc0-d2d2-4067-bcb1-b08d1690b26e",
    ...(cardRangeData.length === 0 ? {} : { cardRangeData }),
  });
}

export function writeErro(preq: string, errorCode: string): string {
  const { messageVersion, threeDSServerTransID } = JSON.parse(preq);
  return JSON.stringify({
    messageType: "Erro",
    messageVersion,
    threeDSServerTransID,
    errorCode,
    errorComponent: "D",
    errorDescription: "refused",
    errorDetail: "by the test",
    errorMessageType: "PReq",
  });
}

export function versionOf({ text }: Received): string {
  return JSON.parse(text).messageVersion;
}
