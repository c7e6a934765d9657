/**
 * A proxy of the test between the gateway and another program. A trap in it springs at an exact
 * moment of the conversation: before a request is passed on, or after it was answered and before
 * the answer is passed back. From then on nothing passes in either direction.
 */
import { once } from "node:events";
import { connect, createServer, type NetConnectOpts, type Socket } from "node:net";

export type Trap = {
  /** Whether this piece of the gateway's data contains the request. Called once for each piece. */
  readonly isRequest: (piece: Buffer, connection: number) => boolean;
  /** Whether this piece of the data for the gateway completes the answer. */
  readonly isAnswer: (piece: Buffer) => boolean;
  readonly moment: "before" | "after";
  /** Called in the same turn of the event loop in which the trap springs. */
  readonly spring: () => void;
};

export type TrapProxy = {
  readonly port: number;
  set(trap: Trap): void;
  /** Holds back the data for the gateway until it is released. */
  hold(): void;
  release(): void;
  /**
   * From now on nothing passes on the open connections, and neither side is notified. New
   * connections are accepted and stay silent too, unless `which` is "open".
   */
  silence(which?: "all" | "open"): void;
  /** Connects new connections to this target. */
  lead(target: NetConnectOpts): void;
  /** Breaks every connection. New ones are accepted. */
  breakAll(): void;
  /** Breaks every connection and accepts no new one. */
  shut(): void;
  /** Lets all data through again, on new connections. */
  reset(): void;
  close(): Promise<void>;
};

type Pair = { readonly number: number; readonly near: Socket; readonly far: Socket };

export async function startTrapProxy(first: NetConnectOpts): Promise<TrapProxy> {
  const pairs = new Set<Pair>();
  const silent = new Set<Pair | Socket>();
  let target = first;
  let isSilent = false;
  let trap: Trap | undefined;
  let caught: Pair | undefined;
  let held: (() => void)[] | undefined;
  let isShut = false;
  let count = 0;

  const server = createServer({ noDelay: true }, (near) => {
    if (isShut) return void near.destroy();
    if (isSilent) return void silent.add(near.on("error", () => undefined));
    count += 1;
    const pair = { number: count, near, far: connect(target) };
    pairs.add(pair);
    near.on("data", (piece: Buffer) => passOn(pair, piece));
    pair.far.on("data", (piece: Buffer) => passBack(pair, piece));
    for (const socket of [near, pair.far]) {
      socket.on("error", () => drop(pair)).on("close", () => drop(pair));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();

  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    set(next) {
      trap = next;
    },
    hold() {
      held ??= [];
    },
    release() {
      const pieces = held ?? [];
      held = undefined;
      for (const pass of pieces) pass();
    },
    silence(which = "all") {
      isSilent = which === "all";
      for (const pair of pairs) silent.add(pair);
    },
    lead(next) {
      target = next;
    },
    breakAll() {
      for (const pair of pairs) drop(pair);
    },
    shut: dropAll,
    reset() {
      trap = undefined;
      caught = undefined;
      isShut = false;
      isSilent = false;
    },
    async close() {
      dropAll();
      for (const each of silent) if (!("number" in each)) each.destroy();
      server.close();
      await once(server, "close");
    },
  };

  function passOn(pair: Pair, piece: Buffer): void {
    if (isShut || silent.has(pair)) return;
    if (caught === undefined && trap?.isRequest(piece, pair.number) === true) {
      if (trap.moment === "before") goOff(trap);
      else caught = pair;
    }
    if (!isShut) pair.far.write(piece);
  }

  function passBack(pair: Pair, piece: Buffer): void {
    if (isShut || silent.has(pair)) return;
    if (trap !== undefined && caught === pair && trap.isAnswer(piece)) goOff(trap);
    else if (held !== undefined) held.push(() => pair.near.write(piece));
    else pair.near.write(piece);
  }

  /**
   * Springs the trap. The process to kill dies first, so that it cannot see its connections break.
   */
  function goOff(sprung: Trap): void {
    isShut = true;
    sprung.spring();
    dropAll();
  }

  function dropAll(): void {
    isShut = true;
    held = undefined;
    for (const pair of pairs) drop(pair);
  }

  function drop(pair: Pair): void {
    pairs.delete(pair);
    pair.near.destroy();
    pair.far.destroy();
  }
}

/** Matches the n-th occurrence of a text, even if it is split between two pieces. */
export function nthMention(text: string | Buffer, wanted: number): Trap["isRequest"] {
  const sought = Buffer.from(text);
  const ends = new Map<number, Buffer>();
  let seen = 0;
  return (piece, connection) => {
    const said = Buffer.concat([ends.get(connection) ?? Buffer.alloc(0), piece]);
    ends.set(connection, said.subarray(Math.max(0, said.length - sought.length + 1)));
    const before = seen;
    for (let at = said.indexOf(sought); at >= 0; at = said.indexOf(sought, at + 1)) seen += 1;
    return before < wanted && seen >= wanted;
  };
}

export type Moment = Pick<Trap, "isRequest" | "isAnswer" | "moment">;

const frameHeadBytes = 2;
const mtiLength = 4;
/**
 * The last bytes of the server's answer to a statement outside a transaction, which is committed by
 * then.
 */
const readyForQuery = Buffer.from("5a0000000549", "hex");

/**
 * The n-th run of a prepared statement. Only Bind has its name between two zero bytes. Frequent
 * statements are prepared again as they are used, so the name of a first run ends with `_1`.
 */
export function statement(name: string, moment: Trap["moment"], wanted: number): Moment {
  return {
    moment,
    isRequest: nthMention(`\0${name}\0`, wanted),
    isAnswer: (piece) => piece.subarray(-readyForQuery.length).equals(readyForQuery),
  };
}

/** The n-th change of an order that is written from now on, over any number of runs. */
export function orderChange(wanted: number, moment: Trap["moment"]): Moment {
  const { isAnswer } = statement("move_orders", moment, wanted);
  return { moment, isAnswer, isRequest: nthMention("\0move_orders_", wanted) };
}

/** The n-th message of this type that the gateway sends to the bank. */
export function bankMessage(mti: string, moment: Trap["moment"], wanted: number): Moment {
  const rests = new Map<number, Buffer>();
  let seen = 0;
  return {
    moment,
    isRequest(piece, connection) {
      let rest = Buffer.concat([rests.get(connection) ?? Buffer.alloc(0), piece]);
      const before = seen;
      while (rest.length >= frameHeadBytes) {
        const end = frameHeadBytes + rest.readUInt16BE(0);
        if (rest.length < end) break;
        const type = rest.subarray(frameHeadBytes, frameHeadBytes + mtiLength).toString("latin1");
        if (type === mti) seen += 1;
        rest = rest.subarray(end);
      }
      rests.set(connection, rest);
      return before < wanted && seen >= wanted;
    },
    isAnswer: () => true,
  };
}
