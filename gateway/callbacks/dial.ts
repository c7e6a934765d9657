/**
 * Opens a connection to a receiver, straight or through the operator's proxy. The address is
 * checked inside the connection's own look-up; a secure one is ready when its certificate has been
 * verified, and not before.
 */
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { makeAnswerReader, writeRequest } from "@tollgate/protocols/http1";

export type Receiver = {
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: number;
};

export type DialOptions = {
  /** Nothing when a proxy looks names up. */
  readonly lookup: LookupFunction | undefined;
  readonly proxy: ProxyServer | undefined;
  /** Certificates to trust in place of the system's. */
  readonly authorities?: string[] | undefined;
};

export type ProxyServer = Receiver & { readonly authorization: string | undefined };

/** Called with each socket as soon as there is one: whoever gives up destroys the latest. */
export type OnSocket = (socket: Socket) => void;

const tunnelAnswer = { headBytesMax: 16_384, bodyBytesMax: 0, startBytesMax: 0 };

export async function dial(
  receiver: Receiver,
  options: DialOptions,
  onSocket: OnSocket,
): Promise<Socket> {
  const { proxy } = options;
  if (proxy === undefined) return open(receiver, options, onSocket);
  // The proxy itself is the operator's and may be anywhere.
  const reached = await open(proxy, { ...options, lookup: undefined }, onSocket);
  if (!receiver.isSecure) return reached;
  await askForTunnel(reached, receiver, proxy);
  return open(receiver, options, onSocket, reached);
}

async function open(
  { isSecure, hostname, port }: Receiver,
  { lookup, authorities }: DialOptions,
  onSocket: OnSocket,
  through?: Socket,
): Promise<Socket> {
  const place = {
    ...{ host: hostname, port, noDelay: true },
    ...(lookup === undefined ? {} : { lookup }),
  };
  if (!isSecure) {
    const socket = withoutAlarm(connectPlain(place));
    onSocket(socket);
    await heard(socket, "connect");
    return socket;
  }
  const secure = connectSecure({
    ...place,
    ...(through === undefined ? {} : { socket: through }),
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ALPNProtocols: ["http/1.1"],
  });
  const socket = withoutAlarm(secure);
  onSocket(socket);
  await heard(socket, "secureConnect");
  return socket;
}

async function askForTunnel(socket: Socket, receiver: Receiver, proxy: ProxyServer): Promise<void> {
  const host = hostOf(receiver);
  const { authorization } = proxy;
  socket.write(
    writeRequest({
      method: "CONNECT",
      target: host,
      headers: {
        host,
        ...(authorization === undefined ? {} : { "proxy-authorization": authorization }),
      },
    }),
  );
  const reader = makeAnswerReader(tunnelAnswer);
  while (reader.answer === undefined && reader.fault === undefined) {
    reader.take(await heard<Buffer>(socket, "data"));
  }
  socket.pause();
  const { answer, fault } = reader;
  if (answer !== undefined && answer.status >= 200 && answer.status < 300) return;
  socket.destroy();
  throw new Error(`the proxy opens no way: ${fault ?? `it answers ${answer?.status}`}`);
}

/** With its port, as a tunnel wants it. */
function hostOf({ hostname, port }: Receiver): string {
  return `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`;
}

/** The next such event, unless the socket is over before. */
function heard<Heard>(socket: Socket, event: "connect" | "secureConnect" | "data"): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const take = (value: Heard) => settle(() => resolve(value));
    const fail = (error: Error) => settle(() => reject(error));
    const close = () => fail(new Error("the connection was closed"));
    socket.once(event, take).once("error", fail).once("close", close);

    function settle(how: () => void): void {
      socket.off(event, take).off("error", fail).off("close", close);
      how();
    }
  });
}

/** An error that nobody listens for any more must not end us. */
function withoutAlarm<Kind extends Socket>(socket: Kind): Kind {
  return socket.on("error", () => undefined);
}
