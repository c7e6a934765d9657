/**
 * The server to which directory servers post the results of challenges: HTTPS with certificates on
 * both sides, on a port of its own. The handshake refuses clients without a certificate of one of
 * our directory servers, and a certificate is valid only at its own directory server's address.
 * Sessions are not resumed: a resumed one has only the certificate, and not the intermediates that
 * lead to its authority.
 */
import { constants, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { type FastifyInstance, fastify } from "fastify";
import { makeSummary } from "../http/rate-limit.ts";
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
type Identity = { readonly certificate: string; readonly key: string };

export type Limits = { readonly connectionsMax: number; readonly handshakeTimeoutMs: number };

export type Authority = {
  /** The issuers of its certificates, in PEM. */
  readonly certificates: string;
  /** The common name of the certificate that posts results; any name when absent. */
  readonly name?: string | undefined;
};

/** The text of the answer; a failure when the result could not be stored. */
type Receive = (directory: string, text: string) => Promise<string | Failure>;

export type ResultsServer = Awaited<ReturnType<typeof startResultsServer>>;

const bodyBytesMax = 1_048_576;
const requestTimeoutMs = 10_000;
const idleMs = 5_000;
const usualLimits: Limits = { connectionsMax: 1_000, handshakeTimeoutMs: 10_000 };
/** Anyone can fail at a handshake as often as they like: the log must not grow with that. */
const refusalsEveryMs = 60_000;

export async function startResultsServer(options: ResultsOptions) {
  const { clock, authorities, host, limits = usualLimits } = options;
  let context = secureContext(options.own, authorities());
  let receive: Receive = async () => new Failure("storage_unavailable");
  const app = fastify({
    https: { ...context, handshakeTimeout: limits.handshakeTimeoutMs },
    ...{ bodyLimit: bodyBytesMax, requestTimeout: requestTimeoutMs, keepAliveTimeout: idleMs },
  });
  addRoutes(app, options, (directory, text) => receive(directory, text));
  const { server } = app;
  server.maxConnections = limits.connectionsMax;
  // Fastify sets the time limit of a request after Node has derived that of its headers from it.
  server.headersTimeout = requestTimeoutMs;
  const refusals = makeSummary(clock, refusalsEveryMs, options.onRefused);
  server.on("tlsClientError", (error) => refusals.add(error.message));
  server.on("drop", () => refusals.add("too many connections"));
  await app.listen({ host, port: options.port });

  return {
    port: (server.address() as AddressInfo).port,

    /** Until this call results are answered with 503, and directory servers send them again. */
    serve(made: Receive): void {
      receive = made;
    },

    /** Applies the present authorities. */
    update: () => apply({ certificate: context.cert, key: context.key }),

    /** Reads the server's own certificate again; the present one stays when it cannot be used. */
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
      const closing = setTimeout(() => server.closeAllConnections(), 1_000).unref();
      await app.close();
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

type Named = { readonly Params: { readonly directory: string } };

function addRoutes(
  app: FastifyInstance<Server>,
  { authorities, onRefused, onCrash }: ResultsOptions,
  receive: Receive,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/json\b/i, { parseAs: "string" }, (_request, body, done) =>
    done(null, body),
  );
  app.setNotFoundHandler((_request, reply) => reply.code(404).send());
  app.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) onCrash(error);
    return reply.code(statusCode).send();
  });
  app.all<Named>("/results/:directory", {
    onRequest: async ({ params: { directory }, raw, method }, reply) => {
      const authority = authorities().get(directory);
      if (authority === undefined) return reply.code(404).send();
      if (!isIssuedBy((raw.socket as TLSSocket).getPeerCertificate(true), authority)) {
        onRefused(`another directory server's certificate at the address of ${directory}`, 1);
        return reply.code(403).send();
      }
      return method === "POST" ? undefined : reply.code(405).header("allow", "POST").send();
    },
    handler: async ({ params: { directory }, body }, reply) => {
      if (typeof body !== "string") return reply.code(415).send();
      const received = await receive(directory, body);
      if (received instanceof Failure) return reply.code(503).header("retry-after", "1").send();
      return reply.type("application/json;charset=utf-8").send(received);
    },
  });
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
  const read = (file: string) => readFile(file, "utf8");
  return { certificate: await read(certificateFile), key: await read(keyFile) };
}
