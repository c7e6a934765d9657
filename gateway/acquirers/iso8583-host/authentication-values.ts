/**
 * Where each network's authentication value and e-commerce indicator belong. Mastercard's are text
 * (UCAF: an AAV of 3-D Secure, a wallet's cryptogram) and have no fixed number of bytes; the values
 * of all other networks (CAVV, AEVV and their like) are 20 bytes.
 */
import { Buffer } from "node:buffer";
import type { Network } from "../../values/card-number.ts";

/** Whether the network's values travel as the text of a UCAF. */
export function usesUcaf(network: Network | undefined): boolean {
  return network === "MASTERCARD" || network === "MAESTRO";
}

/**
 * Returns the value unchanged, or undefined when it is too long for the UCAF, which has 32
 * characters.
 */
export function writeUcaf(value: string): string | undefined {
  return /^[\x21-\x7e]{1,32}$/.test(value) ? value : undefined;
}

/** The bytes in hex; nothing when the base64 is not that of 20 bytes. */
export function writeCavv(value: string): string | undefined {
  const bytes = Buffer.from(value, "base64");
  // Encoded again, because Node's base64 decoder ignores characters after the end.
  const isWhole = bytes.length === 20 && bytes.toString("base64") === value;
  return isWhole ? bytes.toString("hex").toUpperCase() : undefined;
}

/** Mastercard's ECI counts like the UCAF collection indicator: 2 full, 1 attempt, 0 none. */
export function ucafIndicatorOf(eci: string): string {
  return eci.slice(-1);
}

/**
 * The ECI in Visa's terms, where 01 to 04 mean mail order and recurring payments. A Mastercard
 * payment of data only (04), exempt (06) or merchant-initiated (07) is not authenticated there.
 */
export function visaIndicatorOf(eci: string, network: Network | undefined): string {
  const countsLow = usesUcaf(network) || network === "MIR";
  return countsLow ? (visaIndicators[eci] ?? "07") : eci;
}

/** N2: fully authenticated, for a verification of the card. */
const visaIndicators: Readonly<Record<string, string>> = {
  "02": "05",
  "01": "06",
  "00": "07",
  N2: "05",
};
