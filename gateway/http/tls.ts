/**
 * TLS of the merchant port (decision 0051). Certificate and key files are read again while the
 * server runs. A pair is used when two successive readings agree, because a program that renews the
 * files writes one after the other. If a pair cannot be used, the present one stays.
 */
import { constants } from "node:crypto";
import type { Server as HttpServer, RequestListener, ServerOptions } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import {
  type CertificateTexts,
  daysLeft,
  readCertificateFiles,
  UnusableCertificate,
} from "../certificates/certificate-files.ts";
import { messageOf } from "../values/problem.ts";
import type { Instant } from "../values/time.ts";
import type { RefusalCause } from "./server.ts";

type Options = {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly handshakeTimeoutMs: number;
  readonly onFault: (cause: string) => void;
  readonly onRenewed: () => void;
};

type OnRefused = (cause: RefusalCause) => void;

export type ServerTls = Awaited<ReturnType<typeof openTls>>;

type TlsSettings = {
  /** Empty if the gateway does not speak TLS itself. */
  readonly tlsCertificateFile: string;
  readonly tlsKeyFile: string;
  readonly headerTimeoutMs: number;
};

export async function openMerchantTls(
  settings: TlsSettings,
  log: (event: `http.certificate_${"unusable" | "renewed"}`, facts: object) => void,
): Promise<ServerTls | undefined> {
  const { tlsCertificateFile: certificateFile, tlsKeyFile: keyFile } = settings;
  if (certificateFile === "") return undefined;
  return openTls({
    certificateFile,
    keyFile,
    handshakeTimeoutMs: settings.headerTimeoutMs,
    onFault: (cause) => log("http.certificate_unusable", { cause }),
    onRenewed: () => log("http.certificate_renewed", { file: certificateFile }),
  });
}

/** Rejects with `UnusableCertificate` if the files cannot be used. */
export async function openTls(options: Options) {
  const { onFault, onRenewed } = options;
  let present = await readCertificateFiles(options).catch((error) => {
    throw new UnusableCertificate(messageOf(error));
  });
  /** The files' contents or fault: of the last reading, and of the last two that agreed. */
  let latest: CertificateTexts | string = present;
  let agreed: CertificateTexts | string = present;
  const servers: Server[] = [];

  return {
    open(times: ServerOptions, receive: RequestListener, onRefused: OnRefused): HttpServer {
      const { handshakeTimeoutMs: handshakeTimeout } = options;
      const secured = { ...contextOf(present), ...times, handshakeTimeout };
      const server = watchHandshakes(createServer(secured, receive), onRefused);
      servers.push(server);
      return server;
    },

    async reload(): Promise<void> {
      const before = latest;
      latest = await readCertificateFiles(options).catch(messageOf);
      if (!isDeepStrictEqual(latest, before) || isDeepStrictEqual(latest, agreed)) return;
      take(latest);
    },

    isUsable: () => typeof agreed !== "string",
    daysLeft: (now: Instant) => daysLeft(present.cert, now),
  };

  function take(read: CertificateTexts | string): void {
    agreed = read;
    if (typeof read === "string") onFault(read);
    else {
      present = read;
      for (const server of servers) server.setSecureContext(contextOf(present));
      onRenewed();
    }
  }
}

/** Reports failed handshakes, and answers plain HTTP. */
function watchHandshakes(server: Server, onRefused: OnRefused): Server {
  const handshakes = new Map<string, Socket>();
  server.on("connection", (socket) => {
    const name = nameOf(socket);
    handshakes.set(name, socket);
    socket.once("close", () => handshakes.delete(name));
  });
  server.on("secureConnection", (socket) => handshakes.delete(nameOf(socket)));
  server.on("tlsClientError", (error, socket) => {
    const isPlain = "code" in error && error.code === "ERR_SSL_HTTP_REQUEST";
    if (isPlain) handshakes.get(nameOf(socket))?.end(plainAnswer);
    onRefused(isPlain ? "plain HTTP where TLS is expected" : "failed TLS handshakes");
  });
  // A client that never finishes its handshake must not delay the end of the server.
  const close = server.close.bind(server);
  server.close = (done) => {
    for (const socket of handshakes.values()) socket.destroy();
    return close(done);
  };
  return server;
}

/** The name is the same before and after the handshake. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function contextOf(texts: CertificateTexts) {
  return {
    ...texts,
    minVersion: "TLSv1.2" as const,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

const sentence = "This port takes HTTPS: use an https:// address.\n";
const plainAnswer = [
  "HTTP/1.1 400 Bad Request",
  "content-type: text/plain; charset=utf-8",
  `content-length: ${sentence.length}`,
  "connection: close",
  "",
  sentence,
].join("\r\n");
