/** A cardholder without a browser: opens payment pages and posts their forms over HTTP. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";

export type Shown = {
  readonly status: number;
  /** The target of a redirect; empty without one. */
  readonly location: string;
  readonly text: string;
  readonly url: string;
  /** The cookies that the answer sets, as a browser sends them back. */
  readonly cookie: string;
};

/** The values that the cardholder types. An endpoint may ask for more. */
// biome-ignore format: a table
export const typed: Readonly<Record<string, string>> = {
  "cc-number":      "4111 1111 1111 1111",
  "cc-exp-month":   "12",
  "cc-exp-year":    "31",
  "cc-csc":         "123",
  "cc-name":        "Ada Example",
  "email":          "ada@example.com",
  "tel":            "+442079460000",
  "address-line1":  "1 High Street",
  "postal-code":    "AB1 2CD",
  "address-level2": "London",
  "country":        "GB",
};

export async function openPage(url: string, headers: Record<string, string> = {}): Promise<Shown> {
  return read(await fetch(url, { redirect: "manual", headers }), url);
}

/** Posts the page with its hidden fields, as a browser does. */
export async function postPage(
  page: Shown,
  fields: Readonly<Record<string, string>> = {},
  headers: Record<string, string> = {},
): Promise<Shown> {
  const hidden = [
    ...page.text.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g),
  ];
  const own = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value]));
  const body = new URLSearchParams({ ...own, ...typed, ...fields });
  const answer = await fetch(page.url, { method: "POST", body, redirect: "manual", headers });
  return read(answer, page.url);
}

async function read(answer: Response, url: string): Promise<Shown> {
  const { status, headers } = answer;
  const location = headers.get("location");
  const there = location === null ? "" : new URL(location, url).href;
  const [cookie = ""] = headers.get("set-cookie")?.split(";") ?? [];
  return { status, location: there, text: await answer.text(), url, cookie };
}

export function challengeIn({ text }: Shown): string {
  const challenge = /data-challenge="([^"]+)"/.exec(text)?.[1];
  return challenge ?? assert.fail("the page has no challenge");
}

/** Solves the challenge as the page's script does. */
export function solve(challenge: string): string {
  const bits = BigInt(challenge.split(".")[0] ?? "");
  for (let count = 0; ; count += 1) {
    const digest = BigInt(`0x${hash("sha256", challenge.slice(-40) + count)}`);
    if (digest >> (256n - bits) === 0n) return `${challenge}:${count}`;
  }
}
