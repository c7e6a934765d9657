/**
 * Passwords of portal users: argon2id (RFC 9106) with the parameters that OWASP recommends, stored
 * as a PHC string, so that stronger parameters can follow without a migration. Node computes it in
 * its thread pool; few at a time, because each takes 19 MiB and a pool's thread.
 */
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Problem } from "../values/problem.ts";
import type { Secret } from "../values/secret.ts";

const derive = promisify(argon2);

const usual = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;
const saltLength = 16;
export const passwordCharactersMin = 12;
const passwordCharactersMax = 256;

type Parameters = typeof usual;

export async function hashPassword(password: Secret<string>): Promise<string> {
  const salt = randomBytes(saltLength);
  const tag = await tagOf(password, salt, usual);
  const { memory, passes, parallelism } = usual;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

/** Takes as long without a stored hash: an unknown login cannot be told from a wrong password. */
export async function isPassword(password: Secret<string>, stored?: string): Promise<boolean> {
  const parsed = stored === undefined ? undefined : parse(stored);
  if (password.reveal().length > passwordCharactersMax) return false;
  if (parsed === undefined) {
    await tagOf(password, randomBytes(saltLength), usual);
    return false;
  }
  const tag = await tagOf(password, parsed.salt, parsed.parameters);
  return tag.length === parsed.tag.length && timingSafeEqual(tag, parsed.tag);
}

/** Why a new password is not taken. Length counts; kinds of characters do not (NIST SP 800-63B). */
export function findPasswordFault(password: Secret<string>, login: string): Problem | undefined {
  const text = password.reveal().normalize("NFKC");
  if ([...text].length < passwordCharactersMin) {
    return new Problem(`A password has at least ${passwordCharactersMin} characters.`);
  }
  if (text.length > passwordCharactersMax) {
    return new Problem(`A password has at most ${passwordCharactersMax} characters.`);
  }
  if (new Set(text).size < 5) return new Problem("A password has at least 5 different characters.");
  const isOwnName = text.toLowerCase().includes(login.toLowerCase());
  return isOwnName ? new Problem("A password does not contain the login.") : undefined;
}

/** 20 characters of 32: a hundred bits, without those that are read for another. */
export function newPassword(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  const characters = [...randomBytes(20)].map((byte) => letters[byte % 32]);
  return (characters.join("").match(/.{5}/g) ?? []).join("-");
}

function tagOf(password: Secret<string>, nonce: Buffer, parameters: Parameters): Promise<Buffer> {
  const message = password.reveal().normalize("NFKC");
  return derive("argon2id", { message, nonce, tagLength, ...parameters });
}

function parse(stored: string) {
  const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;
  const [, memory, passes, parallelism, salt = "", tag = ""] = form.exec(stored) ?? [];
  if (memory === undefined) return undefined;
  return {
    parameters: {
      ...{ memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    },
    salt: Buffer.from(salt, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

function encode(bytes: Buffer): string {
  return bytes.toString("base64").replace(/(?<!=)=+$/, "");
}
