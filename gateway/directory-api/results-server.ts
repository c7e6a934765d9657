/**
 * The server to which directory servers post the results of challenges: HTTPS with certificates on
 * both sides, on a port of its own. The handshake refuses clients without a certificate of one of
 * our directory servers, and a certificate is valid only at its own directory server's address.
 * Sessions are not resumed: a resumed one has only the certificate, and not the intermediates that
 * lead to its authority.
 */
import { constants, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";

export type ResultsOptions = {
  readonly host: string;
  readonly port: number;
  readonly own: Identity;
  readonly clock: Clock;
  /** By the directory server's name. */
  readonly authorities: () => ReadonlyMap<string, Authority>;
  /** The number of refused clients since the last report, and the cause of the last one. */
  readonly onRefused: (cause: string, count: number) => void;
  readonly onRenewError: (error: unknown) => void;
  readonly onCrash: (error: unknown) => void;
  readonly limits?: Limits;
};

/** Certificate and key in PEM. */
export type Identity = { readonly certificate: string; readonly key: string };

export type Limits = { readonly connectionsMax: number; readonly handshakeTimeoutMs: number };

export type Authority = {
  /** The issuers of its certificates, in PEM. */
  readonly certificates: string;
  /** The common name of the certificate that posts results; any name when absent. */
  readonly name?: string | undefined;
};

/** The text of the answer; a failure when the result could not be stored. */
type Receive = (directory: string, text: string) => Promise<string | Failure>;

export type ResultsServer = {
  readonly port: number;
  /** Until this call results are answered with 503, and directory servers send them again. */
  serve(receive: Receive): void;
  /** Applies the present authorities. */
  update(): void;
  /** Reads the server's own certificate again; the present one stays when it cannot be used. */
  renew(read: () => Promise<Identity | undefined>): Promise<void>;
  stop(): Promise<void>;
};

const bodyBytesMax = 1_048_576;
const requestTimeoutMs = 10_000;
const usualLimits: Limits = { connectionsMax: 1_000, handshakeTimeoutMs: 10_000 };
/** Anyone can fail at a handshake as often as they like: the log must not grow with that. */
const refusalsEveryMs = 60_000;

export async function startResultsServer(options: ResultsOptions): Promise<ResultsServer> {
  const { clock, authorities } = options;
  const { connectionsMax, handshakeTimeoutMs } = options.limits ?? usualLimits;
  const timeouts = { handshakeTimeout: handshakeTimeoutMs, requestTimeout: requestTimeoutMs };
  let context = secureContext(options.own, authorities());
  let receive: Receive = async () => new Failure("storage_unavailable");
  const server = createServer({ ...context, ...timeouts }, (request, response) => {
    answer(request, response, { ...options, receive }).catch((error) => {
      options.onCrash(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  server.maxConnections = connectionsMax;
  const refusals = makeSummary(clock, refusalsEveryMs, options.onRefused);
  server.on("tlsClientError", (error) => refusals.add(error.message));
  server.on("drop", () => refusals.add("too many connections"));
  await listen(server, options);
  const { port } = server.address() as AddressInfo;

  return {
    port,
    serve(made) {
      receive = made;
    },
    update: () => apply({ certificate: context.cert, key: context.key }),
    async renew(read) {
      try {
        const own = await read();
        if (own !== undefined) apply(own);
      } catch (error) {
        options.onRenewError(error);
      }
    },
    async stop() {
      refusals.end();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const closing = setTimeout(() => server.closeAllConnections(), 1_000).unref();
      await closed;
      clearTimeout(closing);
    },
  };

  /** Throws when certificate and key do not belong together. */
  function apply(own: Identity): void {
    const next = secureContext(own, authorities());
    if (isDeepStrictEqual(next, context)) return;
    server.setSecureContext(next);
    context = next;
  }
}

function secureContext(
  { certificate, key }: Identity,
  authorities: ReadonlyMap<string, Authority>,
) {
  return {
    cert: certificate,
    key,
    ca: [...authorities.values()].map(({ certificates }) => certificates),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2" as const,
    // Without tickets a session can only be resumed from a store, and there is none.
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
  { authorities, onRefused, receive }: ResultsOptions & { readonly receive: Receive },
): Promise<void> {
  const [, name] = /^\/results\/([^/?]+)$/.exec(request.url ?? "") ?? [];
  const directory = name === undefined ? undefined : decodeName(name);
  const authority = directory === undefined ? undefined : authorities().get(directory);
  if (directory === undefined || authority === undefined) return end(response, 404);
  if (!isIssuedBy((request.socket as TLSSocket).getPeerCertificate(true), authority)) {
    onRefused(`another directory server's certificate at the address of ${directory}`, 1);
    return end(response, 403);
  }
  if (request.method !== "POST") return end(response.setHeader("allow", "POST"), 405);
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
    return end(response, 415);
  }
  const text = await readText(request);
  if (text === undefined) return end(response, 413);
  const received = await receive(directory, text);
  if (received instanceof Failure) return end(response.setHeader("retry-after", "1"), 503);
  response.writeHead(200, { "content-type": "application/json;charset=utf-8" }).end(received);
}

function decodeName(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/** The handshake has verified the chain; here it must lead to this directory server's authority. */
function isIssuedBy(shown: DetailedPeerCertificate, { certificates, name }: Authority): boolean {
  if (name !== undefined && shown.subject?.CN !== name) return false;
  const roots = (certificates.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  const seen = new Set<string>();
  let each: DetailedPeerCertificate | undefined = shown;
  while (each?.raw !== undefined && !seen.has(each.fingerprint256)) {
    const certificate = new X509Certificate(each.raw);
    const isTrusted = (root: X509Certificate) =>
      root.fingerprint256 === certificate.fingerprint256 ||
      (certificate.checkIssued(root) && certificate.verify(root.publicKey));
    if (roots.some(isTrusted)) return true;
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

type CertificateSettings = {
  readonly environment: "staging" | "production";
  readonly dataDir: string;
  readonly resultsCertificateFile: string;
  readonly resultsKeyFile: string;
};

/**
 * The certificate that the server shows: the operator's, or in staging the one that the sandbox
 * bank has issued, unless another is set. Undefined when none is set;
 * rejects when the operator's files cannot be read.
 */
export async function readResultsCertificate(
  settings: CertificateSettings,
): Promise<Identity | undefined> {
  const { environment, dataDir, resultsCertificateFile, resultsKeyFile } = settings;
  if (resultsCertificateFile !== "") return readIdentity(resultsCertificateFile, resultsKeyFile);
  if (environment !== "staging") return undefined;
  const folder = join(resolve(dataDir), "bank", "tls");
  // A staging gateway without the sandbox bank needs none.
  return readIdentity(join(folder, "gateway.pem"), join(folder, "gateway.key")).catch(
    () => undefined,
  );
}

async function readIdentity(certificateFile: string, keyFile: string): Promise<Identity> {
  const [certificate, key] = await Promise.all(
    ([certificateFile, keyFile] as const).map((file) => readFile(file, "utf8")),
  );
  return { certificate: certificate ?? "", key: key ?? "" };
}

/** Reports the first at once, and then at most one summary per interval. */
function makeSummary(
  clock: Clock,
  intervalMs: number,
  report: (lastCause: string, count: number) => void,
) {
  let [lastCause, count] = ["", 0];
  let cancel: (() => void) | undefined;

  return {
    add(cause: string): void {
      [lastCause, count] = [cause, count + 1];
      if (cancel === undefined) reportNow();
    },
    /** Reports the rest. */
    end(): void {
      if (count > 0) reportNow();
      cancel?.();
    },
  };

  function reportNow(): void {
    cancel?.();
    cancel = clock.after(intervalMs, () => {
      cancel = undefined;
      if (count > 0) reportNow();
    });
    report(lastCause, count);
    count = 0;
  }
}
