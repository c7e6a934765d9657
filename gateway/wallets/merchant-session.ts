/**
 * Requests a merchant session from walleta, without which its payment sheet does not open. The
 * browser names the URL of the request, and anyone can be that browser. Therefore only exact hosts
 * of the operator's list are called, over https and at addresses that the caller's rules permit,
 * and no redirect is followed.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request as startRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { rootCertificates } from "node:tls";
import type { Merchant } from "../orders/merchant.ts";
import type { WalletKey } from "./wallet-trust.ts";

type SessionRequest = {
  /** The URL that the browser has sent. */
  readonly url: string;
  /** The name that the wallet shows to the cardholder. */
  readonly shopName: string;
  /** The host of the payment page. */
  readonly domain: string;
};

export type SessionDependencies = {
  readonly hosts: readonly string[];
  /** In staging, the sandbox chooses its port. */
  readonly allowsAnyPort: boolean;
  /** Returns the reason why an address must not be called. */
  readonly findUrlFault: (url: string) => string | undefined;
  /** Checks the addresses of a host when it is connected to. */
  readonly lookup: LookupFunction;
  /** The authorities of the wallet's server; those of the system if absent. */
  readonly authorities: () => Promise<readonly string[] | undefined>;
  readonly identitiesOf: (merchant: Merchant["id"]) => readonly WalletKey[];
  readonly onRefused: (merchant: Merchant, cause: string) => void;
};

const urlCharactersMax = 2048;
const nameCharactersMax = 64;
const answerBytesMax = 65_536;
const answerWithinMs = 10_000;

/** Returns the authorities of the system, together with that of the file if there is one. */
export async function readAuthorities(
  file: string | undefined,
): Promise<readonly string[] | undefined> {
  if (file === undefined) return undefined;
  const own = await readFile(file, "utf8").catch(() => undefined);
  return own === undefined ? undefined : [...rootCertificates, own];
}

/** Returns the ports with which hosts are listed. */
export function portsOf(hosts: readonly string[]): readonly number[] {
  return hosts.flatMap((host) => Number(URL.parse(`https://${host}`)?.port) || []);
}

export function makeMerchantSessions(dependencies: SessionDependencies) {
  const { identitiesOf, onRefused } = dependencies;
  /** Returns the newest key with a certificate. */
  const identityOf = ({ id }: Pick<Merchant, "id">) =>
    identitiesOf(id).find(({ certificate }) => certificate !== undefined);

  return {
    hasIdentity: (merchant: Merchant) => identityOf(merchant) !== undefined,

    /**
     * Returns the session exactly as the wallet sent it, or undefined if the wallet has given none.
     */
    async ask(merchant: Merchant, asked: SessionRequest): Promise<string | undefined> {
      try {
        return await askAt(findUrl(asked.url), merchant, asked);
      } catch (error) {
        onRefused(merchant, error instanceof Error ? error.message : String(error));
        return undefined;
      }
    },
  };

  /** Checks the URL. Throws if it must not be called. */
  function findUrl(text: string): URL {
    const url = text.length > urlCharactersMax ? null : URL.parse(text);
    if (url === null || url.protocol !== "https:") throw new Error("not an https address");
    const { hosts, allowsAnyPort } = dependencies;
    const isListed = hosts.includes(url.host) || (allowsAnyPort && hosts.includes(url.hostname));
    if (!isListed) throw new Error("the host is not in GW_WALLETA_HOSTS");
    const fault = dependencies.findUrlFault(text);
    if (fault !== undefined) throw new Error(fault);
    return url;
  }

  async function askAt(
    url: URL,
    merchant: Merchant,
    { shopName, domain }: SessionRequest,
  ): Promise<string> {
    const identity = identityOf(merchant);
    const { merchantIdentifier } = merchant.settings.wallets?.walleta ?? {};
    if (identity === undefined || merchantIdentifier === undefined) {
      throw new Error("the merchant has no identity at walleta");
    }
    const body = JSON.stringify({
      merchantIdentifier,
      displayName: [...shopName].slice(0, nameCharactersMax).join(""),
      initiative: "web",
      initiativeContext: domain,
    });
    const authorities = await dependencies.authorities();
    return exchange(url, body, {
      cert: identity.certificate,
      key: identity.privateKey.export({ type: "pkcs8", format: "pem" }),
      ...(authorities && { ca: [...authorities] }),
      lookup: dependencies.lookup,
    });
  }
}

async function exchange(url: URL, body: string, options: RequestOptions): Promise<string> {
  const request = startRequest(url, {
    ...options,
    method: "POST",
    agent: false,
    minVersion: "TLSv1.2",
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    signal: AbortSignal.timeout(answerWithinMs),
  });
  const answered = once(request, "response");
  request.end(body);
  const [response]: IncomingMessage[] = await answered;
  if (response?.statusCode !== 200) {
    request.destroy();
    throw new Error(`walleta answered HTTP ${response?.statusCode}`);
  }
  return readSession(response);
}

/** Whether the text is a JSON object. Its members are not examined. */
async function readSession(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new Error("walleta's answer is too long");
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const session: unknown = JSON.parse(text);
  if (typeof session !== "object" || session === null || Array.isArray(session)) {
    throw new Error("walleta's answer is no session");
  }
  return text;
}
