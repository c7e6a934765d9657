/**
 * One connection to a host, over TLS or plain TCP, with authentication codes of messages. Messages
 * of one turn of the event loop are written together: a write would cost more than its message.
 */
import { Buffer } from "node:buffer";
import { connect, isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import {
  DecodeFault,
  FrameFault,
  FrameReader,
  frame,
  type IsoMessage,
  makeAuthenticator,
  responseMti,
} from "@tollgate/protocols/iso8583";
import type { CertificateTexts } from "../../certificates/certificate-files.ts";
import { messageOf } from "../../values/problem.ts";
import type { Address, GateMacKey } from "../gates.ts";
import type { Dialect } from "./dialect.ts";

const payloadBytesMax = 8_192;

/** The part of the host's dialect that a connection needs. */
export type Wire = Pick<Dialect, "framing"> & Pick<GateAuthentication, "read" | "write">;

type ConnectionEvents = {
  readonly onOpen: () => void;
  readonly onMessage: (message: IsoMessage) => void;
  /** Called with a frame that is not a message. The stream after it can still be read. */
  readonly onUnreadable: (fault: DecodeFault, bytes: number) => void;
  /** Called once. No other function is called after it. */
  readonly onLost: (why: string) => void;
};

/** The files are read for every connection, so that it uses renewed certificates. */
export type Tls = {
  readonly read: () => Promise<CertificateTexts>;
  /** The name in the host's certificate; the host's address if absent. */
  readonly serverName: string | undefined;
};

export class Connection {
  readonly #events: ConnectionEvents;
  readonly #wire: Wire;
  readonly #reader: FrameReader;
  #socket: Socket | undefined;
  /** The TCP connection, which is below TLS if the gate uses it. */
  #tcp: Socket | undefined;
  #gathered: Buffer[] = [];
  #isLost = false;

  constructor(address: Address, wire: Wire, events: ConnectionEvents, tls?: Tls) {
    this.#events = events;
    this.#wire = wire;
    this.#reader = new FrameReader(wire.framing, { payloadBytesMax });
    if (tls === undefined) this.#use(this.#connect(address), "connect");
    else void this.#secure(address, tls);
  }

  send(message: IsoMessage): void {
    const framed = frame(this.#wire.framing, this.#wire.write(message));
    if (this.#gathered.length === 0) setImmediate(() => this.#flush());
    this.#gathered.push(framed);
  }

  /**
   * Resets the connection. One that is merely closed delivers what it still holds: after an
   * interruption of the line, a charge could reach the host minutes after it was proved not to
   * exist.
   */
  drop(why: string): void {
    this.#end(why, () => {
      const [socket, tcp] = [this.#socket, this.#tcp];
      const isOpen = socket?.destroyed === false && tcp?.destroyed === false && !tcp.connecting;
      // TLS ends with the socket below it. Destroying the TLS socket too would end the process.
      if (isOpen) tcp.resetAndDestroy();
      else socket?.destroy();
    });
  }

  /** Closes a connection on which nothing waits for an answer. */
  close(why: string): void {
    this.#end(why, () => this.#socket?.destroy());
  }

  #end(why: string, end: () => void): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#gathered = [];
    end();
    this.#events.onLost(why);
  }

  /** Gives up a connection that was not connected or secured in time. */
  giveUp(): void {
    const isConnected = this.#tcp?.connecting === false;
    this.drop(isConnected ? "tls: the host did not finish the handshake in time" : "no connection");
  }

  async #secure(address: Address, { read, serverName }: Tls): Promise<void> {
    try {
      const options = optionsOf(address, await read(), serverName);
      if (this.#isLost) return;
      this.#use(connectTls({ ...options, socket: this.#connect(address) }), "secureConnect");
    } catch (error) {
      this.drop(`tls: ${messageOf(error)}`);
    }
  }

  #connect(address: Address): Socket {
    const tcp = connect({ ...address });
    this.#tcp = tcp;
    return tcp;
  }

  #use(socket: Socket, opened: "connect" | "secureConnect"): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on(opened, () => this.#isLost || this.#events.onOpen());
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error: NodeJS.ErrnoException) => this.drop(causeOf(error)));
    socket.on("close", () => {
      // A host may refuse a client certificate only after the handshake has ended on this side.
      const isRefusal = opened === "secureConnect" && socket.bytesRead === 0;
      this.drop(`closed by the host${isRefusal ? " before its first message" : ""}`);
    });
  }

  #flush(): void {
    if (this.#isLost || this.#gathered.length === 0) return;
    const bytes = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#socket?.write(bytes);
  }

  #read(chunk: Buffer): void {
    const read = this.#reader.push(chunk);
    for (const payload of read instanceof FrameFault ? read.framesBefore : read) {
      if (this.#isLost) return;
      this.#receive(payload);
    }
    if (read instanceof FrameFault) this.drop(`framing: ${read.reason}`);
  }

  #receive(payload: Buffer): void {
    const message = this.#wire.read(payload);
    if (message instanceof DecodeFault) this.#events.onUnreadable(message, payload.length);
    else this.#events.onMessage(message);
  }
}

function optionsOf(
  address: Address,
  certificates: CertificateTexts,
  serverName = address.host,
): ConnectionOptions {
  return {
    ...address,
    ...certificates,
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    // A certificate may contain an address too, but the handshake can only ask for a name.
    ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
  };
}

const unknownAuthority = "the host's certificate is of an unknown authority";
const needsCertificate = "the host demands a client certificate";
const refusesCertificate = "the host refuses the client certificate";

/** Explanations by error codes, and by alert names at the end of codes. */
const tlsFaults: ReadonlyMap<string, string> = new Map([
  ["CERT_HAS_EXPIRED", "the host's certificate has expired"],
  ["CERT_NOT_YET_VALID", "the host's certificate is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the host's certificate has another name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", unknownAuthority],
  ["SELF_SIGNED_CERT_IN_CHAIN", unknownAuthority],
  ["UNABLE_TO_GET_ISSUER_CERT", unknownAuthority],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", unknownAuthority],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", unknownAuthority],
  ["CERTIFICATE_REQUIRED", needsCertificate],
  ["HANDSHAKE_FAILURE", needsCertificate],
  ["ACCESS_DENIED", refusesCertificate],
  ["BAD_CERTIFICATE", refusesCertificate],
  ["CERTIFICATE_EXPIRED", refusesCertificate],
  ["CERTIFICATE_REVOKED", refusesCertificate],
  ["CERTIFICATE_UNKNOWN", refusesCertificate],
  ["UNKNOWN_CA", refusesCertificate],
  ["UNSUPPORTED_CERTIFICATE", refusesCertificate],
  ["UNRECOGNIZED_NAME", "the host does not know the server name"],
  ["PROTOCOL_VERSION", "the host's TLS is older than 1.2"],
  ["ERR_SSL_UNSUPPORTED_PROTOCOL", "the host's TLS is older than 1.2"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "the host does not speak TLS"],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "the host does not speak TLS"],
]);

/** Describes the failure, with the code that the documentation of TLS uses. */
function causeOf({ code = "error" }: NodeJS.ErrnoException): string {
  const alert = /_ALERT_(\w+)$/.exec(code)?.[1] ?? "";
  const fault = tlsFaults.get(code) ?? tlsFaults.get(alert);
  if (fault !== undefined) return `tls: ${fault} (${code})`;
  return code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS") ? `tls: ${code}` : code;
}

export type GateAuthentication = ReturnType<typeof makeGateAuthentication>;

/**
 * A gate's message authentication. Its keys are revealed here. With a key, every message of the
 * host needs a code. A message without a genuine one is ignored, and the request that it may have
 * answered stays unanswered (decision 0029).
 */
export function makeGateAuthentication(
  { specification, network }: Pick<Dialect, "specification" | "network">,
  keys: readonly GateMacKey[] = [],
  now?: () => number,
) {
  const networkMtis = new Set([network.mti, responseMti(network.mti)]);
  const authenticator = makeAuthenticator(
    specification,
    (mti) => !network.isAuthenticated && networkMtis.has(mti),
    now,
  );
  use(keys);
  return { write: authenticator.write, read: authenticator.read, use };

  /** Every connection uses these keys from its next message on. The newest key signs. */
  function use(given: readonly GateMacKey[] = []): void {
    authenticator.use(given.map(({ id: _, key, ...rest }) => ({ ...rest, key: key.reveal() })));
  }
}
