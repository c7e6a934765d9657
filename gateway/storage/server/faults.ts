/**
 * Decides what an error of the database means for its statement, by the codes of PostgreSQL and of
 * the operating system and by the messages of the driver. `retry`: the statement may succeed later,
 * or has been committed. `refuse`: an operator has to act first. `bug`: the statement never
 * succeeds.
 */
export type Verdict = "retry" | "refuse" | "bug";

/** PostgreSQL's error codes or their beginnings. The longest entry that matches a code is used. */
const sqlStates: Readonly<Record<string, Verdict>> = {
  "08": "retry", // the connection has failed
  "25006": "retry", // the server accepts no writes: it is a standby, or it was demoted
  "25P03": "retry", // the transaction was idle for too long
  "28": "refuse", // wrong user or password
  "3D000": "refuse", // the database does not exist
  "40": "retry", // the transaction was rolled back: serialization failure (40001), deadlock (40P01)
  "42501": "refuse", // a right was not granted
  "53": "retry", // memory, disk or connections are used up
  "55006": "retry", // the object is used by another transaction
  "55P03": "retry", // a lock was not available
  "57": "retry", // cancelled (57014); the server stops, starts or recovers (57P01 to 57P03)
  "57P04": "refuse", // the database was dropped
  "58": "retry", // the server's disk failed
  "XX": "retry", // the server contradicts itself, or a server of its cluster does not answer
};

const socketCodes: Readonly<Record<string, Verdict>> = {
  EACCES: "refuse",
  EADDRNOTAVAIL: "retry",
  EAI_AGAIN: "retry",
  ECONNABORTED: "retry",
  ECONNREFUSED: "retry",
  ECONNRESET: "retry",
  EHOSTDOWN: "retry",
  EHOSTUNREACH: "retry",
  EMFILE: "retry",
  ENETDOWN: "retry",
  ENETUNREACH: "retry",
  ENOENT: "retry", // the server is down and has removed the file of its socket
  ENOTCONN: "retry",
  ENOTFOUND: "retry",
  EPIPE: "retry",
  EPROTO: "retry",
  ETIMEDOUT: "retry",
};

/** The driver's own errors have no code, so they are recognised by their messages. */
const sentences: readonly (readonly [RegExp, Verdict])[] = [
  [/^Query read timeout/, "retry"],
  [/^timeout e(xpired|xceeded)/, "retry"],
  [/connection terminated/i, "retry"],
  [/not queryable/, "retry"],
  [/stream was destroyed|write after end/i, "retry"],
  [/^There was an error establishing an SSL connection/, "retry"],
  [/^The server does not support SSL connections/, "refuse"],
  [/certificate/i, "refuse"],
];

export function judge(error: unknown): Verdict {
  if (!(error instanceof Error)) return "bug";
  const code = codeOf(error);
  if (/^[0-9A-Z]{5}$/.test(code) && !(code in socketCodes)) return judgeState(code);
  const known = socketCodes[code] ?? sentences.find(([said]) => said.test(error.message))?.[1];
  return known ?? "bug";
}

function judgeState(code: string): Verdict {
  for (let length = code.length; length > 0; length -= 1) {
    const verdict = sqlStates[code.slice(0, length)];
    if (verdict !== undefined) return verdict;
  }
  return "bug";
}

/** Returns whether a client may succeed with the same request later. */
export function isUnavailable(error: unknown): boolean {
  return judge(error) !== "bug" || isClosed(error);
}

/** Returns whether one item of a batch may be the cause, so that the others may succeed. */
export function isOfStatement(error: unknown): boolean {
  return judge(error) === "bug" || (error instanceof Error && codeOf(error).startsWith("XX"));
}

export function isClosed(error: unknown): boolean {
  return error instanceof Error && error.message.includes("after calling end on the pool");
}

/** Returns whether the server may be frozen or demoted, so that no connection to it is used. */
export function isServerInDoubt(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === readOnly || error.message.startsWith("Query read timeout");
}

export const readOnly = "25006";

/** Returns whether a lock of another transaction is the cause, or a deadlock. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && ["55P03", "40P01"].includes(codeOf(error));
}

/** Returns whether a unique index has refused the row, because another row has the same values. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === "23505";
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
