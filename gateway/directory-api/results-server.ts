/**
 * The server to which directory servers post the results of challenges. It uses HTTPS with
 * certificates on both sides, on a port of its own. The handshake refuses clients without a
 * certificate of a configured directory server, and a certificate is valid only at its own
 * directory server's address. Sessions are not resumed, because a resumed one only has the
 * certificate, and not the intermediates that lead to its authority.
 */
import { constants, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { join, resolve } from "node:path";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { makeSummary } from "../http/bounds.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import { makeServer } from "../http/server.ts";
import { Failure } from "../values/failure.ts";
import type { Clock } from "../values/time.ts";

type ResultsOptions = {
  readonly host: string;
  readonly port: number;
  readonly own: Identity;
  readonly clock: Clock;
  /** The authorities by the directory servers' names. */
  readonly authorities: () => ReadonlyMap<string, Authority>;
  /** The number of refused clients since the last report, and the cause of the last one. */
  readonly onRefused: (cause: string, count: number) => void;
  readonly onRenewError: (error: unknown) => void;
  readonly onCrash: (error: unknown) => void;
  readonly limits?: Limits;
};

/** The certificate and the key in PEM. */
type Identity = { readonly certificate: string; readonly key: string };

export type Limits = { readonly connectionsMax: number; readonly handshakeTimeoutMs: number };

export type Authority = {
  /** The issuers of its certificates, in PEM. */
  readonly certificates: string;
  /** The common name in the certificate that posts results; any name if absent. */
  readonly name?: string | undefined;
};

/** Returns the text of the answer, or a failure if the result could not be stored. */
type Receive = (directory: string, text: string) => Promise<string | Failure>;

const bodyBytesMax = 1_048_576;
const requestTimeoutMs = 10_000;
const idleMs = 5_000;
const usualLimits: Limits = { connectionsMax: 1_000, handshakeTimeoutMs: 10_000 };
/**
 * How long a result waits while it cannot be stored, for example during the last seconds of a
 * merchant's move to another cell, so that the directory server need not send it again.
 */
const heldMs = 4_000;
const heldGapMs = 200;

type OpenOptions = Pick<ResultsOptions, "clock" | "authorities"> & {
  readonly settings: CertificateSettings & {
    readonly host: string;
    readonly resultsPort: number;
    /** The public address; empty if directory servers reach the port itself. */
    readonly resultsUrl: string;
  };
  /** Returns whether there is a directory server that could post results. */
  readonly isNeeded: () => boolean;
  readonly log: (event: `directory.${Event}`, facts: object) => void;
};

type Event =
  | "certificate_missing"
  | "connection_refused"
  | "certificate_reload_failed"
  | "result_failed";

/** Without a certificate the server does not listen, and challenges cannot be completed. */
export async function openResultsServer(options: OpenOptions) {
  const { settings, log } = options;
  const { host, resultsPort } = settings;
  const own = await readResultsCertificate(settings);
  if (own === undefined && options.isNeeded()) log("directory.certificate_missing", {});
  const server =
    own &&
    (await startResultsServer({
      ...options,
      own,
      host,
      port: resultsPort,
      onRefused: (cause, count) => log("directory.connection_refused", { cause, count }),
      onRenewError: (error) => log("directory.certificate_reload_failed", { err: error }),
      onCrash: (error) => log("directory.result_failed", { err: error }),
    }));
  const address = settings.resultsUrl || `https://${host}:${server?.port ?? resultsPort}`;
  return {
    /** Returns the URL to which a directory server posts results. */
    urlOf: (directory: string) => resultsUrlOf(address, directory),
    serve: (receive: Receive) => server?.serve(receive),
    update: () => server?.update(),
    /** Reads the certificate files again, because they may have changed. */
    renew: async () => server?.renew(() => readResultsCertificate(settings)),
    stop: async () => server?.stop(),
  };
}

export type ResultsServer = Awaited<ReturnType<typeof startResultsServer>>;

export async function startResultsServer(options: ResultsOptions) {
  const { clock, authorities, host, limits = usualLimits } = options;
  let context = secureContext(options.own, authorities());
  let receive: Receive = async () => new Failure("storage_unavailable");
  const refusals = makeSummary(clock, options.onRefused);
  let tlsServer: Server;
  const app = makeServer({
    routes: [resultsRoute(options, hold)],
    bounds: {
      bodyBytesMax,
      headerTimeoutMs: requestTimeoutMs,
      requestTimeoutMs,
      idleTimeoutMs: idleMs,
      connectionsMax: limits.connectionsMax,
      onRefused: (cause) => refusals.add(cause),
    },
    isSecure: false,
    answerError({ status, error }) {
      if (status === 500) options.onCrash(error);
      return { contentType: "text/plain", body: "" };
    },
    open(times, listener) {
      const { handshakeTimeoutMs: handshakeTimeout } = limits;
      tlsServer = createServer({ ...context, ...times, handshakeTimeout }, listener);
      return tlsServer.on("tlsClientError", (error) => refusals.add(error.message));
    },
  });
  const port = await app.listen({ host, port: options.port });

  return {
    port,

    /**
     * Starts processing results. Before this call they wait for some seconds and are then answered
     * with 503.
     */
    serve(made: Receive): void {
      receive = made;
    },

    /** Applies the present authorities. */
    update: () => apply({ certificate: context.cert, key: context.key }),

    /**
     * Reads the server's own certificate again. The present one stays if the files cannot be used.
     */
    async renew(read: () => Promise<Identity | undefined>): Promise<void> {
      try {
        const own = await read();
        if (own !== undefined) apply(own);
      } catch (error) {
        options.onRenewError(error);
      }
    },

    async stop(): Promise<void> {
      refusals.end();
      const closing = setTimeout(() => app.closeAllConnections(), 1_000).unref();
      await app.close();
      clearTimeout(closing);
    },
  };

  async function hold(directory: string, text: string): Promise<string | Failure> {
    const until = clock.now() + heldMs;
    for (;;) {
      const received = await receive(directory, text);
      if (!(received instanceof Failure) || clock.now() >= until) return received;
      await new Promise<void>((resolve) => clock.after(heldGapMs, resolve));
    }
  }

  /** Throws if certificate and key do not belong together. */
  function apply(own: Identity): void {
    const next = secureContext(own, authorities());
    if (isDeepStrictEqual(next, context)) return;
    tlsServer.setSecureContext(next);
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
    // Without tickets a session can only be resumed from a store, which this server does not have.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

function resultsRoute({ authorities, onRefused }: ResultsOptions, receive: Receive): HttpRoute {
  return {
    method: "*",
    path: "/results/:directory",
    answerEarly(request) {
      const status = refusalOf(request);
      if (status === undefined) return undefined;
      const headers: HttpReply["headers"] = status === 405 ? { allow: "POST" } : {};
      return Promise.resolve({ status, headers, body: "" });
    },
    async answer({ params: [directory = ""], body }) {
      const received = await receive(directory, Buffer.from(body).toString());
      if (received instanceof Failure) return unavailable;
      return { status: 200, headers: { "content-type": jsonType }, body: received };
    },
  };

  function refusalOf({ params: [directory = ""], method, headers, socket }: HttpRequest) {
    const authority = authorities().get(directory);
    if (authority === undefined) return 404;
    // The server takes TLS connections only.
    if (!isIssuedBy((socket as TLSSocket).getPeerCertificate(true), authority)) {
      onRefused(`another directory server's certificate at the address of ${directory}`, 1);
      return 403;
    }
    if (method !== "POST") return 405;
    return /^application\/json\b/i.test(headers["content-type"] ?? "") ? undefined : 415;
  }
}

const jsonType = "application/json;charset=utf-8";
const unavailable: HttpReply = { status: 503, headers: { "retry-after": "1" }, body: "" };

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

type CertificateSettings = {
  readonly environment: "staging" | "production";
  readonly dataDir: string;
  readonly resultsCertificateFile: string;
  readonly resultsKeyFile: string;
};

/** Returns the path below the results port's public address. */
function resultsUrlOf(address: string, directory: string): string {
  return `${address.replace(/(?<!\/)\/+$/, "")}/results/${encodeURIComponent(directory)}`;
}

/**
 * Returns the certificate that the server presents: the operator's, or else in staging the one that
 * the sandbox has issued. Returns undefined if there is none, and rejects if the operator's files
 * cannot be read.
 */
export async function readResultsCertificate(
  settings: CertificateSettings,
): Promise<Identity | undefined> {
  const { environment, dataDir, resultsCertificateFile, resultsKeyFile } = settings;
  if (resultsCertificateFile !== "") return readIdentity(resultsCertificateFile, resultsKeyFile);
  if (environment !== "staging") return undefined;
  const folder = join(resolve(dataDir), "bank", "tls");
  // A staging gateway without the sandbox needs no certificate.
  return readIdentity(join(folder, "gateway.pem"), join(folder, "gateway.key")).catch(
    () => undefined,
  );
}

async function readIdentity(certificateFile: string, keyFile: string): Promise<Identity> {
  const read = (file: string) => readFile(file, "utf8");
  return { certificate: await read(certificateFile), key: await read(keyFile) };
}
