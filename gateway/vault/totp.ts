/**
 * Time-based one-time codes (RFC 6238, SHA-1, six digits, steps of thirty seconds), as every
 * authenticator app supports them, and recovery codes, each for one use.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { renderQrSvg } from "../values/qr-code.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";

const stepMs = 30_000;
const secretBytes = 20;
const recoveryCodes = 10;
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function newTotpSecret(): Secret<string> {
  const bits = [...randomBytes(secretBytes)].map((byte) => byte.toString(2).padStart(8, "0"));
  const fives = bits.join("").match(/.{5}/g) ?? [];
  return new Secret(fives.map((five) => letters[Number.parseInt(five, 2)]).join(""));
}

export function totpAt(secret: Secret<string>, step: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", decodeBase32(secret.reveal())).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

export function stepOf(now: Instant): number {
  return Math.floor(now / stepMs);
}

/**
 * Finds the step of the code: this one or a neighbour, because clocks differ. Returns undefined for
 * another code, or for the code of a step that was used before.
 */
export function findTotpStep(
  secret: Secret<string>,
  code: string,
  { now, after }: { readonly now: Instant; readonly after: number },
): number | undefined {
  const present = stepOf(now);
  const steps = [present - 1, present, present + 1].filter((step) => step > after);
  return steps.find((step) => totpAt(secret, step) === code);
}

/** Returns the secret as text for the user, and as a QR code for the app. */
export function showTotp(secret: Secret<string>, issuer: string, login: string) {
  const svg = Buffer.from(renderQrSvg(totpAddress(secret, issuer, login))).toString("base64");
  return { secret: secret.reveal(), picture: `data:image/svg+xml;base64,${svg}` };
}

export function totpAddress(secret: Secret<string>, issuer: string, login: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(login)}`;
  const query = new URLSearchParams({ secret: secret.reveal(), issuer });
  return `otpauth://totp/${label}?${query.toString().replaceAll("+", "%20")}`;
}

export function newRecoveryCodes() {
  const codes = Array.from({ length: recoveryCodes }, () => {
    return (randomBytes(10).toString("hex").match(/.{5}/g) ?? []).join("-");
  });
  return { codes, digests: codes.map(digestRecoveryCode) };
}

/** Eighty random bits need no slow hash. */
export function digestRecoveryCode(code: string): Buffer {
  return createHash("sha256").update(code.trim().toLowerCase()).digest();
}

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
