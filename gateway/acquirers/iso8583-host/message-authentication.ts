/**
 * Message authentication of one gate: its keys leave their secrets here. A gate with a key demands
 * a code in every message of the host; one without a genuine code is not believed, and the request
 * that it may have answered stays unanswered. Decision 0029.
 */
import {
  checkValueOf,
  checkValueOfZoneKey,
  type MacAlgorithm,
  macAlgorithms,
  makeAuthenticator,
  responseMti,
  type ZoneCipher,
  zoneKeyBytes,
} from "@tollgate/protocols/iso8583";
import { Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import type { GateMacKey } from "../gates.ts";
import type { Dialect } from "./dialect.ts";

export type GateAuthentication = ReturnType<typeof makeGateAuthentication>;

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

  /** From the next message on, on every connection. The newest key comes first, and writes. */
  function use(given: readonly GateMacKey[] = []): void {
    authenticator.use(given.map(({ id: _, key, ...rest }) => ({ ...rest, key: key.reveal() })));
  }
}

export const zoneCiphers = Object.keys(zoneKeyBytes) as readonly ZoneCipher[];

/** The zone key as an operator types it. */
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

/** A key as an operator types it, with its check value. A problem never quotes the key. */
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
