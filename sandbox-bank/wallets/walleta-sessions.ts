/**
 * walleta's merchant validation: a payment page's sheet only opens with a session, which the
 * merchant's server requests with its identity certificate. The sandbox bank then fetches the
 * domain's file, as the wallet does when a domain is registered, so a gateway that does not serve
 * the file fails.
 */
import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { TLSSocket } from "node:tls";
import type { BankContext } from "../bank-context.ts";
import type { Identities } from "../certificates/chains.ts";
import { type FieldTable, identifier, oneOf, readFields, text } from "../fields.ts";
import {
  type Address,
  BadRequest,
  bodyBytesMax,
  Listener,
  makeRequestListener,
  parseJson,
  readBody,
  sendJson,
} from "../http.ts";

const sessionPath = "/session";
const fileName = "walleta-domain-association";
const fetchTimeoutMs = 5_000;
const sessionLastsMs = 300_000;

const host = text(/^[a-z0-9.-]{1,253}$/, "a host name");
const domainFields = {
  required: { domain: host, address: text(/^https?:\/\/[^\s/]+$/, "an http(s) origin") },
  optional: {},
} satisfies FieldTable;

const sessionFields = {
  required: {
    merchantIdentifier: identifier,
    displayName: text(/^[^\p{Cc}\p{Cs}]{1,64}$/u, "a name of up to 64 characters"),
    initiative: oneOf(["web"]),
    initiativeContext: host,
  },
  optional: {},
} satisfies FieldTable;

type Domain = { readonly address: string; readonly content: string };

export function openWalletASessions(
  { clock, log }: BankContext,
  identity: Identities["directory"],
  authorities: readonly string[],
  address: Address,
) {
  const domains = new Map<string, Domain>();

  /** Returns the file that the domain has to serve from now on. */
  function registerDomain(body: string): string | BadRequest {
    const given = readFields(parseJson(body), domainFields);
    if (given instanceof BadRequest) return given;
    const content = randomBytes(32).toString("hex");
    domains.set(given.domain, { address: given.address, content });
    return JSON.stringify({ name: fileName, content });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const refuse = (status: number, error: string) => sendJson(response, status, { error });
    const body = await readBody(request, bodyBytesMax);
    if (request.method !== "POST" || request.url !== sessionPath) return refuse(404, "Not here.");
    const asked = readFields(parseJson(body ?? ""), sessionFields);
    if (asked instanceof BadRequest) return refuse(400, asked.sentence);
    const { merchantIdentifier, displayName, initiativeContext: domainName } = asked;
    if (merchantIdentifier !== namedBy(request)) return refuse(403, "Another merchant's identity.");
    if (!(await servesFile(domains.get(domainName)))) return refuse(403, "The file is not there.");
    const now = clock.now().ms;
    sendJson(response, 200, {
      epochTimestamp: now,
      expiresAt: now + sessionLastsMs,
      domainName,
      displayName,
      merchantSessionIdentifier: randomBytes(32).toString("hex"),
      merchantIdentifier: hash("sha256", merchantIdentifier).toUpperCase(),
      nonce: randomBytes(4).toString("hex"),
      signature: randomBytes(64).toString("hex"),
    });
  }

  const clientCertificate = { requestCert: true, rejectUnauthorized: true };
  const tls = { ...identity, ca: [...authorities], ...clientCertificate };
  const server = createServer({ ...tls, minVersion: "TLSv1.2" }, makeRequestListener(handle, log));
  const listener = new Listener(server, address);
  return {
    listener,
    registerDomain,
    validationUrl: () => `https://${address.host}:${listener.port}${sessionPath}`,
  };
}

function namedBy({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  return String(socket.getPeerCertificate().subject.CN);
}

async function servesFile(domain: Domain | undefined): Promise<boolean> {
  if (domain === undefined) return false;
  try {
    const signal = AbortSignal.timeout(fetchTimeoutMs);
    const url = `${domain.address}/.well-known/${fileName}`;
    const answer = await fetch(url, { redirect: "error", signal });
    return answer.ok && (await answer.text()) === domain.content;
  } catch {
    return false;
  }
}
