/**
 * The acquirer host: one port for each dialect, and the connections of gateways over TLS or plain
 * TCP, with the conversion between frames and messages. Answers of one turn of the event loop are
 * written together, because a write per answer would cost more than the answer.
 */
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import {
  DecodeFault,
  FrameFault,
  FrameReader,
  frame,
  type IsoMessage,
} from "@tollgate/protocols/iso8583";
import { type Address, Listener } from "../http.ts";
import { type GatewayConnection, type HostContext, makeAnswer } from "./answers.ts";
import { makeHostAuthentication, NotAuthentic } from "./authentication.ts";
import type { HostDialect } from "./dialects.ts";
import { answerRequest } from "./requests.ts";

const payloadBytesMax = 8_192;
const authenticationFailed = "98";
const garbage = Buffer.from("\u0000\u00ff\u0001 no message \u00fe\u0000", "latin1");

/** The first byte of a TLS handshake. As the length of a message it would mean 5632 bytes. */
const handshakeByte = 0x16;

export function makeHostPort(dialect: HostDialect, address: Address, host: HostContext): Listener {
  const peers = new Set<Connection>();
  host.connections.set(dialect.gate, peers);
  const takeTls = makeTakeTls(host, (socket) => void open(socket));
  let count = 0;
  const server = createServer((socket) => {
    const { connectionsMax } = host.switches.current;
    if (connectionsMax !== null && count >= connectionsMax) return void socket.destroy();
    count += 1;
    socket.once("close", () => (count -= 1));
    socket.on("error", () => socket.destroy());
    return void socket.once("data", (first: Buffer) => {
      if (first[0] === handshakeByte) takeTls(socket, first);
      else open(socket).read(first);
    });
  });
  return new Listener(server, address);

  function open(socket: Socket): Connection {
    const connection = new Connection(socket, dialect, host, peers);
    peers.add(connection);
    socket.once("close", () => peers.delete(connection));
    return connection;
  }
}

/**
 * Accepts TLS connections. A switch decides for each connection whether a client certificate is
 * demanded.
 */
function makeTakeTls({ identity, switches, log }: HostContext, take: (socket: Socket) => void) {
  return (socket: Socket, first: Buffer) => {
    const { demandCertificate: demands } = switches.current;
    const certificates = { requestCert: demands, rejectUnauthorized: demands };
    const server = createTlsServer({ ...identity, ...certificates, minVersion: "TLSv1.2" }, take);
    server.on("tlsClientError", ({ message }) => log(`A TLS handshake failed: ${message}.`));
    socket.pause();
    socket.unshift(first);
    server.emit("connection", socket);
  };
}

class Connection implements GatewayConnection {
  readonly dialect: HostDialect;
  signedOn = false;
  readonly #socket: Socket;
  readonly #host: HostContext;
  readonly #reader: FrameReader;
  readonly #authentication: ReturnType<typeof makeHostAuthentication>;
  /** All connections to the same port. */
  readonly #peers: ReadonlySet<Connection>;
  #unsent: Buffer[] = [];

  constructor(
    socket: Socket,
    dialect: HostDialect,
    host: HostContext,
    peers: ReadonlySet<Connection>,
  ) {
    this.#peers = peers;
    this.dialect = dialect;
    this.#socket = socket;
    this.#host = host;
    this.#reader = new FrameReader(dialect.framing, { payloadBytesMax });
    this.#authentication = makeHostAuthentication(dialect, host.switches);
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.read(chunk));
    socket.on("drain", () => socket.resume());
    socket.on("error", () => socket.destroy());
  }

  isOpen(): boolean {
    return this.#socket.writable;
  }

  answer(message: IsoMessage): void {
    const { 37: reference = "" } = message.fields;
    const isElsewhere = this.#host.switches.current.answersElsewhere && reference !== "";
    const over = isElsewhere ? this.#findOther() : this;
    if (over.isOpen()) over.#send(reference, this.#authentication.write(message));
  }

  #findOther(): Connection {
    const others = [...this.#peers].filter((peer) => peer !== this && peer.isOpen());
    return others.find(({ signedOn }) => signedOn) ?? this;
  }

  answerGarbage(reference: string): void {
    if (this.isOpen()) this.#send(reference, garbage);
  }

  /** Closes the connection. Answers that were given before are still sent. */
  close(reason: string): void {
    this.#host.log(`A gateway's connection was closed: ${reason}.`);
    this.#flush();
    this.#socket.destroySoon();
  }

  read(chunk: Buffer): void {
    if (!this.isOpen()) return;
    const read = this.#reader.push(chunk);
    for (const payload of read instanceof FrameFault ? read.framesBefore : read) {
      if (this.isOpen()) this.#receive(payload);
    }
    if (read instanceof FrameFault) this.close("the bytes received are not a frame");
  }

  #receive(payload: Buffer): void {
    const { clock, messages } = this.#host;
    const { specification } = this.dialect;
    const received = this.#authentication.read(payload);
    if (received instanceof DecodeFault) {
      const { field, reason } = received;
      this.close(`${payload.length} bytes are not a message: ${field} is ${reason}`);
      return;
    }
    const isAuthentic = !(received instanceof NotAuthentic);
    const request = isAuthentic ? received : received.request;
    const reference = request.fields[37] ?? "";
    messages.record("received", { reference, payload, specification, ms: clock.now().ms });
    messages.announce(request);
    try {
      const read = this.dialect.read(request);
      const exchange = { request: read, connection: this, host: this.#host };
      if (isAuthentic) answerRequest(exchange);
      else this.answer(makeAnswer(exchange, authenticationFailed));
    } catch (error) {
      // The error's message may quote the request, so only its stack is logged.
      const stack = error instanceof Error ? (error.stack ?? "").split("\n    at ").slice(1) : [];
      this.close(`handling ${request.mti} failed at ${stack.join(", ")}`);
    }
  }

  #send(reference: string, payload: Buffer): void {
    const { clock, messages } = this.#host;
    const { framing, specification } = this.dialect;
    messages.record("sent", { reference, payload, specification, ms: clock.now().ms });
    if (this.#unsent.length === 0) setImmediate(() => this.#flush());
    this.#unsent.push(frame(framing, payload));
  }

  #flush(): void {
    if (this.#unsent.length === 0 || !this.isOpen()) return;
    this.#host.ledger.write();
    const bytes = Buffer.concat(this.#unsent);
    this.#unsent = [];
    // This is backpressure: the host stops reading from a gateway that does not read its answers.
    if (!this.#socket.write(bytes)) this.#socket.pause();
  }
}
