/** The moments at which crash tests kill the gateway, as traps can see them go by. */
import { nthMention, type Trap } from "./trap-proxy.ts";

export type Moment = Pick<Trap, "isRequest" | "isAnswer" | "moment">;

const frameHeadBytes = 2;
const mtiLength = 4;
/** The server's last word on a statement outside a transaction: by then it is committed. */
const readyForQuery = Buffer.from("5a0000000549", "hex");

/**
 * The n-th run of a prepared statement: only Bind has its name between two zero bytes. Hot ones are
 * prepared anew as they are used, so the name of a first run ends with `_1`.
 */
export function statement(name: string, moment: Trap["moment"], wanted: number): Moment {
  return {
    moment,
    isRequest: nthMention(`\0${name}\0`, wanted),
    isAnswer: (piece) => piece.subarray(-readyForQuery.length).equals(readyForQuery),
  };
}

/** The n-th message of a type that the gateway sends to the bank. */
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
