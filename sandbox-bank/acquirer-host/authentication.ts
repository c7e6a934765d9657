/**
 * The host's message authentication, by its switches: with keys it demands a code in every request
 * and gives one in every answer. The keys are for tests only, and in no vault.
 */
import {
  DecodeFault,
  decode,
  encode,
  type IsoMessage,
  type MacAlgorithm,
  type MacKey,
  makeAuthenticator,
} from "@tollgate/protocols/iso8583";
import type { Switchboard } from "../switches.ts";
import type { HostDialect } from "./dialects.ts";

/** A request whose code is missing or wrong; it is answered, and not carried out. */
export class NotAuthentic {
  readonly request: IsoMessage;

  constructor(request: IsoMessage) {
    this.request = request;
  }
}

export function makeHostAuthentication(dialect: HostDialect, switches: Switchboard) {
  const { specification } = dialect;
  const isExempt = (mti: string) => !dialect.authenticatesNetwork && mti.startsWith("08");
  const genuine = makeAuthenticator(specification, isExempt);
  const forged = makeAuthenticator(specification, isExempt);
  let known: string | null = null;

  return {
    write(answer: IsoMessage): Buffer {
      const { macDefect } = refresh();
      if (macDefect === "missing") return encode(specification, answer);
      return (macDefect === "wrong" ? forged : genuine).write(answer);
    },

    read(payload: Buffer): IsoMessage | NotAuthentic | DecodeFault {
      refresh();
      const read = genuine.read(payload);
      if (!(read instanceof DecodeFault) || !read.reason.startsWith("mac_")) return read;
      const request = decode(specification, payload);
      return request instanceof DecodeFault ? request : new NotAuthentic(request);
    },
  };

  function refresh() {
    const { current } = switches;
    if (current.macKeys !== known) {
      known = current.macKeys;
      const keys = known === null ? [] : known.split(",").map(readKey);
      genuine.use(keys);
      forged.use(keys.map((key) => ({ ...key, key: reversed(key.key) })));
    }
    return current;
  }
}

/** As in `cmac-8:2B7E…`; the switch has checked the form. */
function readKey(text: string): MacKey {
  const [, algorithm = "", bytes, key = ""] = /^(\w+)-([48]):(\w+)$/.exec(text) ?? [];
  return { algorithm: algorithm as MacAlgorithm, bytes: bytes === "4" ? 4 : 8, key };
}

function reversed(key: string): string {
  return [...key].reverse().join("");
}
