/**
 * Passwords of portal users, hashed with argon2id (RFC 9106) and OWASP's parameters as PHC strings,
 * so that stronger parameters need no migration. Only a few hashes are computed at a time, because
 * each needs 19 MiB and one of Node's threads.
 */
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Problem } from "../values/problem.ts";
import type { Secret } from "../values/secret.ts";

const derive = promisify(argon2);

const usual = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;
const saltLength = 16;
const passwordCharactersMin = 12;
const passwordCharactersMax = 256;

type Parameters = typeof usual;

export async function hashPassword(password: Secret<string>): Promise<string> {
  const salt = randomBytes(saltLength);
  const tag = await tagOf(password, salt, usual);
  const { memory, passes, parallelism } = usual;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

/** Takes as long without a stored hash, so that an unknown login looks like a wrong password. */
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

/** Common parts of passwords, and runs of keys on common keyboards. */
const commonParts = `
  password passwort passw kennwort qwertyuiop qwertzuiop qwerty qwertz azerty asdfghjkl asdf
  zxcvbn yxcvbn 1q2w3e4r5t 1q2w3e4r 1qaz2wsx welcome willkommen letmein iloveyou changeme
  administrator admin root user guest login default secret geheim master test demo hello hallo
  dragon monkey football baseball fussball sunshine princess superman batman starwars shadow
  michael jordan schatz tollgate gateway payment january february march april june july august
  september october november december januar februar spring summer autumn winter sommer herbst
  monday tuesday wednesday thursday friday saturday sunday q1w2e3r4t5y6 q1w2e3r4 qazwsx qweasd
  qwer qwe asd zxc yxc 1qaz 2wsx 3edc 4rfv 5tgb zaq1 xsw2 cde3 vfr4 qaz wsx edc zaq xsw cde
  trustno liverpool chelsea arsenal barcelona charlie jennifer jessica michelle ashley daniel
  thomas andrew matthew pokemon naruto computer internet samsung freedom mustang ferrari mercedes
  porsche phoenix chocolate butterfly company service support manager office soccer hockey killer
  hunter
`;
const commonPart = new RegExp(commonParts.trim().split(/\s+/).join("|"), "g");
const swapped: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  "$": "s",
  "!": "i",
};
/** How many characters must remain without common parts and runs such as 1234 and aaaa. */
const uncommonMin = 7;

/** Leaves out common words, even those with digits for letters, runs and repeated parts. */
function countUncommon(text: string): number {
  const typed = text.toLowerCase();
  const spelled = [...typed].map((each) => swapped[each] ?? each).join("");
  const common = new Set<number>();
  const add = (start: number, end: number) => {
    for (let at = start; at < end; at += 1) common.add(at);
  };
  for (const form of [typed, spelled]) {
    for (const { index, 0: part } of form.matchAll(commonPart)) add(index, index + part.length);
  }
  for (let end = 2 * repeatedMin; end <= typed.length; end += 1) {
    const start = end - repeatedMin;
    if (typed.slice(0, start).includes(typed.slice(start, end))) add(start, end);
  }
  const codes = Array.from({ length: typed.length }, (_, at) => typed.charCodeAt(at));
  const goesOn = (at: number, by: number) =>
    Math.abs((codes[at] ?? 0) - (codes[at - by] ?? Number.NaN)) <= 1;
  return codes.filter((_, at) => {
    // Matches two alternating runs, such as a1b2c3.
    const isOfTwo = goesOn(at, 2) && goesOn(at - 1, 2);
    return !common.has(at) && !goesOn(at, 1) && !isOfTwo;
  }).length;
}

/** A repetition of this many characters adds nothing to a password. */
const repeatedMin = 4;

/** Only longer logins are searched in passwords, because shorter ones are part of many words. */
const namesMin = 4;

export function findPasswordFault(password: Secret<string>, login: string): Problem | undefined {
  const text = password.reveal().normalize("NFKC");
  if ([...text].length < passwordCharactersMin) {
    return new Problem(`A password has at least ${passwordCharactersMin} characters.`);
  }
  if (text.length > passwordCharactersMax) {
    return new Problem(`A password has at most ${passwordCharactersMax} characters.`);
  }
  if (new Set(text).size < 5) return new Problem("A password has at least 5 different characters.");
  if (!/\p{L}/u.test(text) || !/\p{Nd}/u.test(text)) {
    return new Problem("A password has letters and digits.");
  }
  const [name = ""] = login.toLowerCase().split("@");
  if (name.length >= namesMin && text.toLowerCase().includes(name))
    return new Problem("A password does not contain the login.");
  return countUncommon(text) < uncommonMin
    ? new Problem("This password is easy to guess. Use more and less common words.")
    : undefined;
}

/** 20 of 32 possible characters are a hundred bits. Characters that look alike are left out. */
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
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
    },
    salt: Buffer.from(salt, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

function encode(bytes: Buffer): string {
  return bytes.toString("base64").replace(/(?<!=)=+$/, "");
}
