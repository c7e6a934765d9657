/**
 * Opens connections for callbacks, direct or through the operator's proxy. A host's addresses are
 * checked in the connection's own look-up; a TLS connection is handed over once its certificate
 * is verified.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type buildConnector, Client } from "undici";

/** `own` gets every socket on the way, for the caller to destroy when it gives up. */
export type Connect = (
  to: Target,
  connected: buildConnector.Callback,
  own: (socket: Socket) => void,
) => void;

type Target = Pick<buildConnector.Options, "protocol" | "hostname" | "port">;

/** A look-up of its own, a socket to the proxy, or a list of trusted authorities. */
export type Route = {
  readonly lookup?: LookupFunction;
  readonly socket?: Socket;
  readonly ca?: string[];
};

export type ProxyServer = {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
};

export const headBytesMax = 16_384;
/** Counts what undici does not: status lines, interim responses, what is between chunks. */
const responseBytesMax = headBytesMax + 65_536;
/** For a connection or a tunnel that undici opens again by itself: no exchange owns it. */
const connectWithinMs = 60_000;

export function makeConnect(route: Route): Connect {
  return (to, connected, own) => own(openSocket(to, route, connected));
}

/** The operator chose the proxy, which may be anywhere. */
export const connectToProxy = makeConnect({});

/** The proxy resolves host names; certificates are verified through the tunnel. */
export function makeConnectThrough(
  { origin, headers }: ProxyServer,
  route: Route,
  withinMs = connectWithinMs,
): Connect {
  return (to, connected, own) => {
    const fail = (cause: string) => connected(new Error(`proxy CONNECT failed: ${cause}`), null);
    const hostname = isIP(to.hostname) === 6 ? `[${to.hostname}]` : to.hostname;
    const host = `${hostname}:${to.port || 443}`;
    const client = new Client(origin, {
      allowH2: false,
      headersTimeout: withinMs,
      maxHeaderSize: headBytesMax,
      connect: (proxy, reached) => connectToProxy(proxy, reached, own),
    });
    client.connect({ path: host, headers: { ...headers, host } }, (error, response) => {
      if (error !== null) return fail(error.message);
      // undici hands over the socket that `connectToProxy` opened.
      const socket = response.socket as Socket;
      if (response.statusCode >= 200 && response.statusCode < 300) {
        return own(openSocket(to, { ...route, socket }, connected));
      }
      socket.destroy();
      fail(`HTTP ${response.statusCode}`);
    });
  };
}

function openSocket(to: Target, route: Route, connected: buildConnector.Callback): Socket {
  const isSecure = to.protocol === "https:";
  const port = Number(to.port) || (isSecure ? 443 : 80);
  const target = { ...route, host: to.hostname, port, noDelay: true };
  const servername = isIP(to.hostname) === 0 ? { servername: to.hostname } : {};
  const socket = isSecure
    ? connectTls({ ...target, ...servername, ALPNProtocols: ["http/1.1"] })
    : connectTcp(target);
  let isSettled = false;
  socket.setTimeout(connectWithinMs, () => socket.destroy(new Error("connect timed out")));
  socket.once(isSecure ? "secureConnect" : "connect", () => {
    socket.setTimeout(0);
    settle(() => connected(null, socket));
  });
  // It stays: without a listener, a late error would end the process.
  socket.on("error", (error) => settle(() => connected(error, null)));
  socket.once("close", () => settle(() => connected(new Error("connection closed"), null)));
  return socket;

  function settle(how: () => void): void {
    if (isSettled) return;
    isSettled = true;
    how();
  }
}

/** Ends a connection whose response goes on and on. A response starts with what is written. */
export function limitResponses(socket: Socket): void {
  let [written, readBefore, read] = [0, 0, 0];
  socket.on("readable", () => {
    const { bytesRead, bytesWritten } = socket;
    if (bytesWritten !== written) [written, readBefore] = [bytesWritten, read];
    read = bytesRead;
    if (read - readBefore > responseBytesMax) {
      socket.destroy(new Error(`response exceeds ${responseBytesMax} bytes`));
    }
  });
}
