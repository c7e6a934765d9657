/**
 * The host's message authentication, which its switches control: with keys, the host demands a code
 * in every request and adds one to every answer. The keys are for tests only and are in no vault.
 * The host delivers them under the test zone key of the switches: in the answer to a gateway that
 * asks, or by a network message of its own. A delivered key is used from the moment when it is
 * accepted, and the previous one still verifies messages.
 */
import { randomBytes } from "node:crypto";
import {
  checkValueOf,
  DecodeFault,
  decode,
  encode,
  type IsoMessage,
  type MacAlgorithm,
  type MacKey,
  makeAuthenticator,
  wrapBlock,
  wrapCryptogram,
  type ZoneCipher,
} from "@tollgate/protocols/iso8583";
import type { Switchboard } from "../switches.ts";
import { type Exchange, type GatewayConnection, type HostContext, makeAnswer } from "./answers.ts";
import type { HostDialect } from "./dialects.ts";

/** A request whose code is missing or wrong. It is answered but not processed. */
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

/** Reads a key like `cmac-8:2B7E…`, whose form the switch has checked. */
function readKey(text: string): MacKey {
  const [, algorithm = "", bytes, key = ""] = /^(\w+)-([48]):(\w+)$/.exec(text) ?? [];
  return { algorithm: algorithm as MacAlgorithm, bytes: bytes === "4" ? 4 : 8, key };
}

function reversed(key: string): string {
  return [...key].reverse().join("");
}

export function answerKeyRequest(exchange: Exchange): IsoMessage {
  const { connection, host } = exchange;
  const key = wrapNext(host.switches);
  if (key === undefined) return makeAnswer(exchange, "12");
  if (host.switches.current.deliversKeys) {
    setImmediate(() => void deliverKey(host, connection));
    return makeAnswer(exchange, "00");
  }
  // The answer still uses the previous key.
  setImmediate(() => useNext(host.switches));
  return makeAnswer(exchange, "00", connection.dialect.keys.write(key));
}

/** Delivers a key and resolves with field 39 of the gateway's answer. */
export async function deliverKey(
  host: HostContext,
  connection: GatewayConnection,
): Promise<string> {
  const key = wrapNext(host.switches);
  if (key === undefined) return "no key";
  const { dialect } = connection;
  const trace = String(700_000 + (host.deliveries.size % 100_000));
  const { promise, resolve } = Promise.withResolvers<string>();
  host.deliveries.set(trace, resolve);
  const { mti, fields } = dialect.keys.deliver({ trace, iso: host.clock.now().iso });
  connection.answer({ mti, fields: { ...fields, ...dialect.keys.write(key) } });
  const code = await promise;
  if (code === "00" || code === "800") useNext(host.switches);
  return code;
}

/** Receives the gateway's answer to a delivery. */
export function receiveDeliveryAnswer({ request, host }: Exchange): void {
  const { 11: trace = "", 39: code = "" } = request.raw.fields;
  host.deliveries.get(trace)?.(code);
}

const wrappedBefore = new Map<string, string>();

/**
 * Wraps the next key. The same key under the same zone key gives the same text again, as in a
 * replay.
 */
function wrapNext({ current }: Switchboard): string | undefined {
  const { zoneKey, nextMacKey, keyDefect } = current;
  if (zoneKey === null || nextMacKey === null) return undefined;
  const [cipher = "", zone = ""] = zoneKey.split(":");
  const [, algorithm = "", key = ""] = /^(\w+)-[48]:(\w+)$/.exec(nextMacKey) ?? [];
  const made = `${zoneKey} ${nextMacKey}`;
  const wrapped =
    wrappedBefore.get(made) ?? wrap(key, algorithm, { cipher: cipher as ZoneCipher, key: zone });
  wrappedBefore.set(made, wrapped);
  return keyDefect === "wrong" ? wrapped.replace(/.$/, (digit) => flip(digit)) : wrapped;
}

function flip(digit: string): string {
  return digit === "0" ? "1" : "0";
}

function wrap(key: string, algorithm: string, zone: { cipher: ZoneCipher; key: string }): string {
  const isCmac = algorithm === "cmac";
  const checkValue = checkValueOf(algorithm as MacAlgorithm, key);
  if (zone.cipher === "tdes") return wrapCryptogram(key, zone.key) + checkValue;
  const usage = isCmac ? "M6" : "M3";
  return wrapBlock(key, zone, { usage, cipher: isCmac ? "aes" : "tdes", random: randomBytes });
}

function useNext(switches: Switchboard): void {
  const { macKeys, nextMacKey } = switches.current;
  const [before] = macKeys?.split(",") ?? [];
  const keys = [nextMacKey, before].filter((key) => key !== undefined && key !== null);
  switches.set({ macKeys: keys.join(","), nextMacKey: null });
}
