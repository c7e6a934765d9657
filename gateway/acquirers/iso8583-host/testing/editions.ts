/** What message types and response codes of ISO 8583:1987 are called in a gate's dialect. */
import type { GateKind } from "../../gates.ts";

export function mtiIn(kind: GateKind, mti: string): string {
  if (kind !== "iso93_ascii") return mti;
  // A return is a reversal advice there, as any reversal.
  return mti.startsWith("040") ? `142${mti[3]}` : `1${mti.slice(1)}`;
}

export function codeIn(kind: GateKind, code: string): string {
  return kind === "iso93_ascii" ? (actionCodes[code] ?? code) : code;
}

const actionCodes: Readonly<Record<string, string>> = {
  "00": "000",
  "05": "100",
  "10": "002",
  "12": "902",
  "13": "110",
  "1A": "161",
  "25": "914",
  "43": "209",
  "51": "116",
  "54": "101",
  "57": "119",
  "85": "000",
  "91": "912",
  "96": "909",
  "98": "916",
  "N7": "160",
};
