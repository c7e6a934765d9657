/**
 * TCP between nodes and hosts in virtual time: bytes arrive late but in order, or not at all
 * because the line is cut or the connection reset. A cut line keeps the bytes, which arrive when
 * the line is back, unless one side has reset the connection before.
 */
import { EventEmitter } from "node:events";
import type { Random } from "./random.ts";
import type { SimulatedProcess, VirtualTime } from "./virtual-time.ts";

/** Accepts the connections of a host. */
export type Listener = { readonly owner: SimulatedProcess; accept(socket: VirtualSocket): void };

export type Network = ReturnType<typeof makeNetwork>;

export function makeNetwork(time: VirtualTime, random: Random) {
  const listeners = new Map<string, Listener>();
  /** The times until which the line of a process is cut, and until which it is slow. */
  const cutUntil = new Map<SimulatedProcess, number>();
  const slowUntil = new Map<SimulatedProcess, number>();
  const sockets = new Set<VirtualSocket>();
  const line = { time, delayMs, isCut, sockets };

  return {
    listen: (port: number, listener: Listener) => listeners.set(`${port}`, listener),
    cut: (process: SimulatedProcess, forMs: number) => cutUntil.set(process, time.now() + forMs),
    slow: (process: SimulatedProcess, forMs: number) => slowUntil.set(process, time.now() + forMs),
    heal(): void {
      cutUntil.clear();
      slowUntil.clear();
    },
    delayMs,
    isCut,
    /** Resets all connections of the process, as at its end or when its link flaps. */
    reset(process: SimulatedProcess): void {
      for (const socket of [...sockets]) if (socket.owner === process) socket.breakOff();
    },
    connect(_host: string, port: number): VirtualSocket {
      const owner = time.current();
      const listener = listeners.get(`${port}`);
      const near = new VirtualSocket(owner, line);
      if (listener === undefined || !listener.owner.isAlive) {
        time.after(1, owner, () => near.breakOff("ECONNREFUSED"));
        return near;
      }
      const far = new VirtualSocket(listener.owner, line, port);
      near.peer = far;
      far.peer = near;
      time.after(delayMs(owner), listener.owner, () => {
        if (near.destroyed || isCut(owner)) return;
        far.connecting = false;
        listener.accept(far);
        time.after(delayMs(owner), owner, () => near.open());
      });
      return near;
    },
  };

  function delayMs(process: SimulatedProcess): number {
    const isSlow = (slowUntil.get(process) ?? 0) > time.now();
    return isSlow ? random.skewed(50, 20_000) : random.skewed(0.2, 30);
  }

  function isCut(process: SimulatedProcess): boolean {
    return (cutUntil.get(process) ?? 0) > time.now();
  }
}

type Line = {
  readonly time: VirtualTime;
  readonly sockets: Set<VirtualSocket>;
  delayMs(process: SimulatedProcess): number;
  isCut(process: SimulatedProcess): boolean;
};

/** The part of `net.Socket` that links use. */
export class VirtualSocket extends EventEmitter {
  readonly owner: SimulatedProcess;
  readonly #line: Line;
  peer: VirtualSocket | undefined;
  connecting = true;
  destroyed = false;
  bytesRead = 0;
  /** When bytes last arrived; at first, when the socket was made. */
  #heardAt: number;
  /** When the last written bytes arrive. */
  #arrivesAt = 0;

  /** The port of the listener, on its side. */
  readonly port: number | undefined;

  constructor(owner: SimulatedProcess, line: Line, port?: number) {
    super();
    this.owner = owner;
    this.port = port;
    this.#line = line;
    this.#heardAt = line.time.now();
    line.sockets.add(this);
  }

  /** Whether neither side has ended the connection. */
  get isOpen(): boolean {
    return !this.destroyed && this.peer?.destroyed === false;
  }

  setNoDelay(): this {
    return this;
  }

  open(): void {
    if (this.destroyed) return;
    this.connecting = false;
    this.emit("connect");
  }

  write(bytes: Buffer, onArrived?: () => void): boolean {
    const { time } = this.#line;
    const { peer } = this;
    if (this.destroyed || peer === undefined) return false;
    const between = [this.owner, peer.owner];
    const delayMs = Math.max(...between.map((each) => this.#line.delayMs(each)));
    this.#arrivesAt = Math.max(this.#arrivesAt, time.now() + delayMs);
    time.after(this.#arrivesAt - time.now(), peer.owner, () => this.#deliver(bytes, onArrived));
    return true;
  }

  /**
   * Delivers bytes. A reset discards those that wait for a cut line, and those on their way arrive.
   */
  #deliver(bytes: Buffer, onArrived?: () => void): void {
    const { peer } = this;
    if (peer === undefined || peer.destroyed) return;
    if ([this.owner, peer.owner].some((each) => this.#line.isCut(each))) {
      if (this.destroyed) return;
      this.#line.time.after(500, peer.owner, () => this.#deliver(bytes, onArrived));
      return;
    }
    peer.bytesRead += bytes.length;
    peer.#heardAt = this.#line.time.now();
    peer.emit("data", bytes);
    onArrived?.();
  }

  closeWhenSilent(afterMs: number): void {
    const { time } = this.#line;
    const restMs = this.#heardAt + afterMs - time.now();
    if (restMs <= 0) this.destroy();
    if (this.destroyed) return;
    time.after(restMs, this.owner, () => this.closeWhenSilent(afterMs));
  }

  destroy(): this {
    this.#end();
    return this;
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  /** Breaks the connection from outside; both sides are notified. */
  breakOff(code = "ECONNRESET"): void {
    if (this.destroyed) return;
    const error = Object.assign(new Error(code), { code });
    this.#line.time.after(0, this.owner, () => this.emit("error", error));
    this.#end();
  }

  #end(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#line.sockets.delete(this);
    const { peer } = this;
    const { time } = this.#line;
    time.after(0, this.owner, () => this.emit("close"));
    if (peer === undefined || peer.destroyed) return;
    // The other side is notified unless the line is cut.
    if (this.#line.isCut(this.owner) || this.#line.isCut(peer.owner)) return;
    const arrivesAt = Math.max(this.#arrivesAt, time.now() + this.#line.delayMs(this.owner));
    time.after(arrivesAt - time.now(), peer.owner, () => peer.destroy());
  }
}
