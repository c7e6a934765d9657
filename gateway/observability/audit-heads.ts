/**
 * Writes signed heads of the audit to places outside of the database: a file that only grows, or a
 * URL. They prove later that no entry up to the head was changed or deleted.
 */
import { appendFile, readFile } from "node:fs/promises";
import { messageOf } from "../values/problem.ts";

type Places = { readonly auditHeadFile: string; readonly auditHeadUrl: string };
/** One line of JSON. */
type OutsideHead = {
  readonly seq: number;
  readonly hash: string;
  readonly at: number;
  readonly key: string;
  readonly signature: string;
};

const postTimeoutMs = 5_000;

/** If a place fails, it is reported, and the head is written to the other place nevertheless. */
export function makePublishHead(
  { auditHeadFile: file, auditHeadUrl: url }: Places,
  onFailed: (place: string, cause: string) => void,
): (head: OutsideHead) => Promise<void> {
  return async (head) => {
    const line = `${JSON.stringify(head)}\n`;
    const attempts: Promise<unknown>[] = [];
    const attempt = (place: string, work: Promise<unknown>) =>
      attempts.push(work.catch((error) => onFailed(place, messageOf(error))));
    if (file !== "") attempt(file, appendFile(file, line, { mode: 0o640 }));
    if (url !== "") attempt(url, post(url, line));
    await Promise.all(attempts);
  };
}

async function post(url: string, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const signal = AbortSignal.timeout(postTimeoutMs);
  const answer = await fetch(url, { method: "POST", redirect: "error", headers, body, signal });
  if (!answer.ok) throw new Error(`the receiver answered ${answer.status}`);
}

/** Reads the heads of a file. Throws with the number of a line that is not a head. */
export async function readHeads(file: string): Promise<readonly OutsideHead[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line, index) => {
    const head = parse(line);
    if (head === undefined) throw new Error(`line ${index + 1} is no head`);
    return head;
  });
}

function parse(line: string): OutsideHead | undefined {
  try {
    const head: Readonly<Record<string, unknown>> = JSON.parse(line);
    const { seq, hash, at, key, signature } = head;
    if (typeof seq !== "number" || typeof at !== "number") return undefined;
    if (typeof hash !== "string" || typeof key !== "string") return undefined;
    return typeof signature === "string" ? { seq, hash, at, key, signature } : undefined;
  } catch {
    return undefined;
  }
}
