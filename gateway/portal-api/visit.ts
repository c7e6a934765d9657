/**
 * Identifies the visitor: the session and the known browser by their cookies, the client by its
 * address. A cookie contains a random token, and the session's row only its digest.
 */
import { createHash } from "node:crypto";
import {
  clientNetworkOf,
  type IsTrusted,
  networkOf,
  type ProxyHeader,
} from "../http/client-network.ts";
import type { HttpRequest } from "../http/router.ts";
import type { Instant } from "../values/time.ts";
import type { PortalSession, PortalVisit } from "./route.ts";

export type VisitOptions = {
  /** Returns the gateway's origin as browsers see it. It is known once the gateway listens. */
  readonly origin: () => string;
  readonly now: () => Instant;
  readonly isTrusted: IsTrusted;
  readonly proxyHeader: ProxyHeader;
  /** Returns undefined for a session that has expired. */
  readonly findSession: (digest: Uint8Array, now: Instant) => Promise<PortalSession | undefined>;
  readonly touchSession: (digest: Uint8Array, now: Instant) => Promise<void>;
  readonly isDevice: (login: string, device: string) => boolean;
};

/** How often a session is marked as seen, at most. */
const touchEveryMs = 30_000;
const deviceDays = 180;

export async function openVisit(
  request: HttpRequest,
  options: VisitOptions,
  cookies: string[],
): Promise<PortalVisit> {
  const { headers, socket } = request;
  const isSecure = options.origin().startsWith("https:");
  const sent = cookiesOf(headers.cookie);
  const token = sent.get(cookieName("session", isSecure)) ?? "";
  const now = options.now();
  const session = token === "" ? undefined : await options.findSession(digestOf(token), now);
  const isActive = headers["x-portal-poll"] === undefined;
  if (session !== undefined && isActive && now - session.seenAt > touchEveryMs) {
    await options.touchSession(session.digest, now);
  }
  const device = sent.get(cookieName("device", isSecure)) ?? "";
  const direct = networkOf(socket.remoteAddress);
  const behind = clientNetworkOf(headers, options.isTrusted, options.proxyHeader);
  const isProxied = options.isTrusted(socket.remoteAddress ?? "");
  return {
    network: (isProxied ? behind : undefined) ?? direct ?? "unknown",
    agent: (headers["user-agent"] ?? "").slice(0, 300),
    now,
    session,
    deviceOf: (login) => (options.isDevice(login, device) ? device : undefined),
    cookies: {
      set(cookie, value) {
        const ageS = value === "" ? 0 : cookie === "device" ? deviceDays * 86_400 : undefined;
        const age = ageS === undefined ? "" : `; Max-Age=${ageS}`;
        const secure = isSecure ? "; Secure" : "";
        const own = `${cookieName(cookie, isSecure)}=${value}; Path=/`;
        cookies.push(`${own}; HttpOnly; SameSite=Strict${secure}${age}`);
      },
    },
  };
}

/**
 * Returns the name of a cookie. The prefix keeps other hosts of the same domain from setting it.
 */
function cookieName(cookie: "session" | "device", isSecure: boolean): string {
  return `${isSecure ? "__Host-" : ""}tollgate-${cookie}`;
}

function cookiesOf(header = ""): ReadonlyMap<string, string> {
  const pairs = header.split(";").map((pair) => pair.trim().split("="));
  return new Map(pairs.map(([name = "", value = ""]) => [name, value]));
}

export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
