/**
 * Reads the transaction report: asks for it, signed by OAuth, and reads its CSV row by row while it
 * arrives. A report that breaks off is an error, so that half of it is never taken for the whole.
 * Balances are asked for in the same way.
 */
import { AccessDenied, type CallOptions, Refused, Unreachable } from "./call.ts";
import type { Authorize } from "./oauth.ts";
import type { ReportColumn, TransactionReportRequest } from "./operations.generated.ts";
import { type Fetch, readReply, reasonOf } from "./send.ts";
import { encodePercent, type Pair } from "./web.ts";

/** A line of the report; a cell without a value is empty. */
export type ReportRow = Readonly<Record<ReportColumn, string>>;
export type ReadReport = (
  request: TransactionReportRequest,
  options?: CallOptions,
) => AsyncGenerator<ReportRow>;

type Options = {
  readonly authorize: Authorize;
  readonly fetch: Fetch;
  readonly fieldWord: string;
  /** The time limit for the beginning of the answer. */
  readonly timeoutMs: number;
};

export function makeReadReport(ask: Ask, url: string, fieldWord: string): ReadReport {
  return async function* readReport(request, { signal } = {}) {
    const pairs = Object.entries(request).flatMap(([name, value]): readonly Pair[] => {
      const trimmed = value.trim();
      return trimmed === "" ? [] : [[name, trimmed]];
    });
    const response = await ask(url, pairs, { verb: "GET", signal });
    let names: readonly string[] | undefined;
    try {
      for await (const cells of readCells(response.body ?? [])) {
        if (names === undefined) names = cells;
        else yield rowOf(names, cells, fieldWord);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw unreachable(`the report broke off: ${reasonOf(error)}`, response.status);
    }
    if (names === undefined) throw unreachable("an answer that is no report", response.status);
  };
}

type Asked = { readonly verb: "GET" | "POST"; readonly signal: AbortSignal | undefined };
export type Ask = ReturnType<typeof makeAsk>;

/** Makes the function that asks once, and returns only an answer with the HTTP status 200. */
export function makeAsk({ authorize, fetch, fieldWord, timeoutMs }: Options) {
  return async (url: string, pairs: readonly Pair[], { verb, signal }: Asked) => {
    const authorization = await authorize(url, pairs, verb)();
    const query = pairs.map((pair) => pair.map(encodePercent).join("=")).join("&");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const begun = new AbortController();
    const timer = setTimeout(() => begun.abort(new Error("TimeoutError")), timeoutMs);
    try {
      const response = await fetch(verb === "GET" ? `${url}?${query}` : url, {
        method: verb,
        headers: { authorization, ...(verb === "POST" && form) },
        ...(verb === "POST" && { body: query }),
        signal: signal === undefined ? begun.signal : AbortSignal.any([signal, begun.signal]),
        redirect: "manual",
      });
      if (response.status === 200) return response;
      if (response.status === 403) throw new AccessDenied();
      const bytes = new Uint8Array(await response.arrayBuffer());
      const reply = readReply({ httpStatus: response.status, bytes }, fieldWord);
      if (reply instanceof Refused) throw reply;
      throw unreachable("an answer that is no reply of the gateway", response.status);
    } catch (error) {
      signal?.throwIfAborted();
      const isOwn = [AccessDenied, Refused, Unreachable].some((kind) => error instanceof kind);
      throw isOwn ? error : unreachable(reasonOf(error), undefined);
    } finally {
      clearTimeout(timer);
    }
  };
}

export function unreachable(reason: string, httpStatus: number | undefined): Unreachable {
  return new Unreachable({ reason, httpStatus }, 1);
}

/** Two names contain the operator's own word, and are read as `gw-…`. */
function rowOf(names: readonly string[], cells: readonly string[], fieldWord: string): ReportRow {
  const neutral = names.map((name) => name.replace(RegExp(`^${fieldWord}-`), "gw-"));
  // The gateway writes every column, and each row has a cell for each of them.
  return Object.fromEntries(neutral.map((name, at) => [name, cells[at] ?? ""])) as ReportRow;
}

/** Reads the cells of each line (RFC 4180). A quoted cell may contain line ends. */
async function* readCells(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let [cells, cell] = [[] as string[], ""];
  let place: "plain" | "quoted" | "after quote" = "plain";
  for await (const chunk of chunks) {
    for (const character of decoder.decode(chunk, { stream: true })) {
      if (place === "quoted") {
        if (character === '"') place = "after quote";
        else cell += character;
      } else if (character === '"') {
        // Two quotes in a quoted cell stand for one.
        if (place === "after quote") cell += character;
        place = "quoted";
      } else if (character === ",") {
        cells.push(cell);
        [cell, place] = ["", "plain"];
      } else if (character === "\n") {
        yield [...cells, cell];
        [cells, cell, place] = [[], "", "plain"];
      } else if (character !== "\r") {
        cell += character;
      }
    }
  }
  if (cells.length > 0 || cell !== "") throw new Error("the last line is not complete");
}
