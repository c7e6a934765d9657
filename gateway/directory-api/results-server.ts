/**
 * Where directory servers post the results of challenges: HTTPS with certificates on both sides, on
 * a port of its own. Whoever cannot show a certificate that one of our directory servers has issued
 * gets no further than the handshake; and one's certificate is of no use at another's address. No
 * session is resumed: of a resumed one only the certificate itself would be known, and not by which
 * intermediate it leads to its authority.
 */
import { constants, X509Certificate } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";
import { makeSeldom } from "./seldom.ts";

export type ResultsOptions = {
  readonly host: string;
  readonly port: number;
  readonly own: Identity;
  readonly clock: Clock;
  /** By the directory server's name. */
  readonly authorities: () => ReadonlyMap<string, Authority>;
  /** The text of the answer; a failure when it could not be stored. */
  readonly takeResult: (directory: string, text: string) => Promise<string | Failure>;
  /** How many were refused since it was told last, and why the last one was. */
  readonly onRefused: (cause: string, count: number) => void;
  readonly onCrash: (error: unknown) => void;
  readonly limits?: Limits;
};

export type Limits = { readonly connectionsMax: number; readonly handshakeTimeoutMs: number };

/** What we show, in PEM. */
export type Identity = { readonly certificate: string; readonly key: string };

export type Authority = {
  /** What its certificates are issued by, in PEM. */
  readonly certificates: string;
  /** The common name of the one that posts results; any when absent. */
  readonly name?: string | undefined;
};

export type ResultsServer = {
  readonly port: number;
  /** The directory servers are others now, or our certificate is; throws when it is of no use. */
  update(own?: Identity): void;
  stop(): Promise<void>;
};

const bodyBytesMax = 1_048_576;
const requestTimeoutMs = 10_000;
const usualLimits: Limits = { connectionsMax: 1_000, handshakeTimeoutMs: 10_000 };
/** Anybody can fail at a handshake, as often as he likes: the log must not grow with that. */
const refusalsEveryMs = 60_000;

export async function startResultsServer(options: ResultsOptions): Promise<ResultsServer> {
  let { own } = options;
  const { connectionsMax, handshakeTimeoutMs } = options.limits ?? usualLimits;
  const timeouts = { handshakeTimeout: handshakeTimeoutMs, requestTimeout: requestTimeoutMs };
  const secured = { ...secureContext(own, options), ...timeouts };
  const server = createServer(secured, (request, response) => {
    answer(request, response, options).catch((error) => {
      options.onCrash(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  server.maxConnections = connectionsMax;
  const refused = makeSeldom(options.clock, refusalsEveryMs, options.onRefused);
  server.on("tlsClientError", (error) => refused.tell(error.message));
  server.on("drop", () => refused.tell("too many connections"));
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    update(next = own) {
      server.setSecureContext(secureContext(next, options));
      own = next;
    },
    async stop() {
      refused.end();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const letGo = setTimeout(() => server.closeAllConnections(), 1_000).unref();
      await closed;
      clearTimeout(letGo);
    },
  };
}

function secureContext({ certificate, key }: Identity, { authorities }: ResultsOptions) {
  return {
    cert: certificate,
    key,
    ca: [...authorities().values()].map(({ certificates }) => certificates),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2" as const,
    // Without tickets a session would have to be kept here, and none is.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

async function listen(server: Server, { host, port }: ResultsOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  await promise;
  server.off("error", reject);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ResultsOptions,
): Promise<void> {
  const [, name] = /^\/results\/([^/?]+)$/.exec(request.url ?? "") ?? [];
  const directory = name === undefined ? undefined : decodeName(name);
  const authority = directory === undefined ? undefined : options.authorities().get(directory);
  if (directory === undefined || authority === undefined) return end(response, 404);
  if (!isIssuedBy((request.socket as TLSSocket).getPeerCertificate(true), authority)) {
    options.onRefused(`another's certificate was shown at the address of ${directory}`, 1);
    return end(response, 403);
  }
  if (request.method !== "POST") return end(response.setHeader("allow", "POST"), 405);
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
    return end(response, 415);
  }
  const text = await readText(request);
  if (text === undefined) return end(response, 413);
  const told = await options.takeResult(directory, text);
  if (told instanceof Failure) return end(response.setHeader("retry-after", "1"), 503);
  response.writeHead(200, { "content-type": "application/json;charset=utf-8" }).end(told);
}

function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** The handshake has proved the chain; here it must lead to this directory server's authority. */
function isIssuedBy(shown: DetailedPeerCertificate, { certificates, name }: Authority): boolean {
  if (name !== undefined && shown.subject?.CN !== name) return false;
  const roots = (certificates.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  const seen = new Set<string>();
  let each: DetailedPeerCertificate | undefined = shown;
  while (each?.raw !== undefined && !seen.has(each.fingerprint256)) {
    const certificate = new X509Certificate(each.raw);
    const isOurs = (root: X509Certificate) =>
      root.fingerprint256 === certificate.fingerprint256 ||
      (certificate.checkIssued(root) && certificate.verify(root.publicKey));
    if (roots.some(isOurs)) return true;
    seen.add(each.fingerprint256);
    each = each.issuerCertificate;
  }
  return false;
}

async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}
