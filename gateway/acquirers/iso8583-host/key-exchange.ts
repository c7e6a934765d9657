/**
 * Keys for message authentication, typed by an operator, or delivered by a host in network messages
 * under the gate's zone key: which messages are accepted, and how they are answered. Keys are
 * revealed here and never logged (decision 0029).
 */
import { createHash } from "node:crypto";
import {
  checkValueOf,
  checkValueOfZoneKey,
  type IsoFields,
  type IsoMessage,
  KeyFault,
  type MacAlgorithm,
  macAlgorithms,
  responseMti,
  unwrapKey,
  type ZoneCipher,
  zoneKeyBytes,
} from "@tollgate/protocols/iso8583";
import { Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import type { Clock } from "../../values/time.ts";
import type { DeliveredKey, GateZoneKey, StoreKey } from "../gates.ts";
import type { Dialect } from "./dialect.ts";
import type { Links } from "./links.ts";
import { makeNetworkMessage } from "./messages.ts";

type Wire = Pick<Dialect, "network" | "codes" | "keyExchange">;

type KeyExchangeOptions = {
  readonly wire: Wire;
  readonly zoneKey: () => GateZoneKey | undefined;
  readonly storeKey: StoreKey;
  readonly log: (
    event: "acquirer.mac_key_delivered" | "acquirer.mac_key_refused",
    facts: object,
  ) => void;
};

export type KeyExchange = ReturnType<typeof makeKeyExchange>;

export function makeKeyExchange({ wire, zoneKey, storeKey, log }: KeyExchangeOptions) {
  const { network, codes, keyExchange } = wire;
  return { answer, take };

  /** Answers a network message of the host. Returns undefined for one that hosts do not send. */
  async function answer(request: IsoMessage): Promise<IsoMessage | undefined> {
    if (request.mti !== network.mti) return undefined;
    const code = request.fields[network.codeField];
    if (code === network.codes.echo) return answerWith(request, codes.networkAccepted);
    if (keyExchange === undefined || code !== keyExchange.deliver) return undefined;
    const taken = await take(request.fields);
    return taken.outcome === "refused"
      ? answerWith(request, keyExchange.refused)
      : answerWith(request, codes.networkAccepted);
  }

  function answerWith({ mti, fields }: IsoMessage, code: string): IsoMessage {
    const echoed = network.echoed.flatMap((field) => {
      const value = fields[field];
      return value === undefined ? [] : [[field, value] as const];
    });
    return { mti: responseMti(mti), fields: { ...Object.fromEntries(echoed), 39: code } };
  }

  /** A key is stored only if its message is genuine and it was not delivered before. */
  async function take(fields: IsoFields): Promise<Taken> {
    const zone = zoneKey();
    const text = keyExchange?.read(fields);
    if (zone === undefined) return refuse("the gate has no zone key");
    if (text === undefined) return refuse("there is no key in the message");
    const delivered = readDelivery(text, zone);
    if (typeof delivered === "string") return refuse(delivered);
    const { checkValue } = delivered;
    const outcome = await storeKey(delivered).catch(() => undefined);
    if (outcome === undefined) return refuse("the key could not be stored", { checkValue });
    if (outcome === "replayed") return refuse("the key was delivered before", { checkValue });
    if (outcome === "stored") log("acquirer.mac_key_delivered", { checkValue });
    return { outcome: "accepted", checkValue };
  }

  function refuse(cause: string, facts: object = {}): Taken {
    log("acquirer.mac_key_refused", { cause, ...facts });
    return { outcome: "refused", cause };
  }
}

type Taken =
  | { readonly outcome: "accepted"; readonly checkValue: string }
  | { readonly outcome: "refused"; readonly cause: string };

type Asking = {
  readonly wire: Wire;
  readonly links: Pick<Links, "send">;
  readonly exchange: KeyExchange;
  readonly clock: Pick<Clock, "now">;
  readonly zone: string | undefined;
  readonly answerTimeoutMs: number;
};

/** The host's answer contains the key, or the host delivers it by a message of its own. */
export async function askForKey(asking: Asking): Promise<"delivered" | "asked" | Problem> {
  const { wire, links, exchange, clock, zone = "UTC", answerTimeoutMs } = asking;
  const { keyExchange, network, codes } = wire;
  if (keyExchange === undefined) return new Problem("The dialect has no message for keys.");
  const at = clock.now();
  // Links number their own network messages from 1 on, so trace numbers here begin at 900,000.
  const traceNumber = String(900_000 + (Math.floor(at / 1_000) % 100_000));
  const message = makeNetworkMessage(network, keyExchange.ask, traceNumber, { at, zone });
  const answer = await links.send(message, { timeoutMs: answerTimeoutMs });
  if (typeof answer === "string") return new Problem(`The host has not answered: ${answer}.`);
  const { 39: code } = answer.fields;
  if (code !== codes.networkAccepted) return new Problem(`The host gives no key: 39 is ${code}.`);
  if (keyExchange.read(answer.fields) === undefined) return "asked";
  const taken = await exchange.take(answer.fields);
  return taken.outcome === "refused" ? new Problem(`Not taken: ${taken.cause}.`) : "delivered";
}

/** Returns the key with its check value, or the reason why it is refused. */
function readDelivery(text: string, zone: GateZoneKey): DeliveredKey | string {
  const { cipher, algorithm, bytes } = zone;
  const unwrapped = unwrapKey(text, { cipher, key: zone.key.reveal() });
  if (unwrapped instanceof KeyFault) return `the key cannot be opened: ${unwrapped.reason}`;
  const { key, usage, rest } = unwrapped;
  const isForCodes = usage === undefined || /^M[0-8]$/.test(usage);
  const wanted = algorithm === "cmac" ? "aes" : "tdes";
  if (!isForCodes || unwrapped.cipher !== wanted) return `the key is not for ${algorithm}`;
  const read = readMacKey(key, algorithm);
  if (read instanceof Problem) return `the key is no key for ${algorithm}`;
  const given = /^[0-9A-F]{4,6}/.exec(rest.toUpperCase())?.[0];
  // A key block authenticates itself, while a cryptogram only has the check value.
  if (given === undefined && usage === undefined) return "the key has no check value";
  if (given !== undefined && !checkValueOf(algorithm, key).startsWith(given)) {
    return "the check value is wrong";
  }
  const digest = createHash("sha256").update(text).digest();
  return { algorithm, bytes, ...read, key: new Secret(key), digest };
}

export const zoneCiphers = Object.keys(zoneKeyBytes) as readonly ZoneCipher[];

export function readZoneKey(given: string, cipher: ZoneCipher) {
  const key = given.replace(/\s/g, "").toUpperCase();
  const lengths = zoneKeyBytes[cipher].map((count) => count * 2);
  if (!/^[0-9A-F]*$/.test(key) || !lengths.some((length) => length === key.length)) {
    return new Problem(
      `A zone key for ${cipher} is ${lengths.join(", ")} hexadecimal digits on standard input.`,
    );
  }
  if (cipher === "tdes" && key.slice(0, 16) === key.slice(16, 32)) {
    return new Problem("Two parts of the key are equal: that is single DES.");
  }
  return { key: new Secret(key), checkValue: checkValueOfZoneKey(cipher, key) };
}

export const macAlgorithmNames = Object.keys(macAlgorithms) as readonly MacAlgorithm[];

/** A problem never quotes the key. */
export function readMacKey(given: string, algorithm: MacAlgorithm) {
  const key = given.replace(/\s/g, "").toUpperCase();
  const lengths = macAlgorithms[algorithm].keyBytes.map((count) => count * 2);
  if (!/^[0-9A-F]*$/.test(key) || !lengths.some((length) => length === key.length)) {
    return new Problem(
      `A key for ${algorithm} is ${lengths.join(", ")} hexadecimal digits on standard input.`,
    );
  }
  if (algorithm !== "cmac" && key.slice(0, 16) === key.slice(16)) {
    return new Problem("Both halves of the key are equal: that is single DES.");
  }
  return { key: new Secret(key), checkValue: checkValueOf(algorithm, key) };
}
