/**
 * Many profiles in one request: its payload is CSV (RFC 4180) with an entry for each profile, and
 * columns named like the fields of the operation for one profile, whose code answers each entry.
 */
import { randomUUIDv7 } from "node:crypto";
import { readRecords, writeRecord } from "../values/csv-records.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber, type MerchantId } from "../values/ids.ts";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import { later, seconds } from "../values/time.ts";
import * as field from "./fields.ts";
import { type CalledParts, type Operation, operation, type Reply, type Sent } from "./operation.ts";
import { answerEntry } from "./pipeline.ts";

const entriesMax = 1000;
const payloadMax = 1_048_576;
/** Few enough that other requests find room among the queries in flight. */
const atOnce = 32;
/** All entries together wait this long for issuers. */
const waitMs = seconds(4);

/** A payload counts as one request, and charges a thousand cards. */
const payloadsMax = 2;
/** The payloads of each merchant that this process is answering. */
const inProgress = new Map<MerchantId, number>();

/** Entries of a payload are counted from 1, and those of a file by their lines. */
export type PayloadEntry = { readonly line: number; readonly sent: Sent };
export type Answered = PayloadEntry & { readonly answer: Reply | Failure };

type Plural = {
  /** Columns of the reply beside line, order id and error. */
  readonly columns: readonly string[];
  /** Whether each entry has a serial number of its own, as the transaction of an order needs. */
  readonly hasSerialNumbers: boolean;
};

export function pluralOf(one: Operation, { columns, hasSerialNumbers }: Plural): Operation {
  const names = columnsOf(one.request);
  const { name, path, versions = [], isForEndpoints = false } = one;
  const payload = field.message(
    payloadMax,
    `CSV (RFC 4180) with at most ${entriesMax} entries; the first line has the names of columns, ` +
      `in any order: \`${names.join("`, `")}\``,
  );
  return operation({
    versions,
    isForEndpoints,
    control: [],
    name: `${name}s`,
    path: path.replace("/{id}", "s/{id}"),
    purpose:
      `As ${name}, for many profiles at once. Each entry is accepted or refused by itself; an ` +
      "unknown or repeated column or a broken line refuses all of them.",
    request: { payload },
    async handle(request, context) {
      const entries = await readEntries(request.payload, one);
      if (entries instanceof Failure) return entries;
      const answered = await oneOfFew(context.entryPoint.merchant.id, () =>
        answerAll(entries, ({ sent }) => {
          const { serialNumber } = context;
          const own = hasSerialNumbers ? asSerialNumber(randomUUIDv7()) : serialNumber;
          const waitUntil = later(context.receivedAt, waitMs);
          return answerEntry(one, sent, { ...context, serialNumber: own, waitUntil });
        }),
      );
      if (answered instanceof Failure) return answered;
      return replyTo(answered, `${name}s-response`, columns, context.services);
    },
  });
}

export function columnsOf(fields: field.Fields): readonly string[] {
  return Object.keys(fields).map((name) => name.replaceAll("_", "-"));
}

async function oneOfFew<Result>(
  merchant: MerchantId,
  answer: () => Promise<Result>,
): Promise<Result | Failure> {
  const others = inProgress.get(merchant) ?? 0;
  if (others >= payloadsMax) {
    return new Failure("too_many_requests", "other payloads of the merchant are being answered");
  }
  inProgress.set(merchant, others + 1);
  try {
    return await answer();
  } finally {
    const left = (inProgress.get(merchant) ?? 1) - 1;
    if (left > 0) inProgress.set(merchant, left);
    else inProgress.delete(merchant);
  }
}

async function readEntries(
  payload: string,
  { request }: Pick<Operation, "request">,
): Promise<readonly PayloadEntry[] | Failure> {
  const entries: PayloadEntry[] = [];
  for await (const each of readLines(bytesOf(payload), request, { recordBytesMax: payloadMax })) {
    if ("why" in each) return broken(each);
    if (entries.length === entriesMax) {
      return broken({ ...each, why: `more than ${entriesMax} entries` });
    }
    entries.push({ ...each, line: entries.length + 1 });
  }
  return entries.length > 0 ? entries : broken({ line: 1, why: "no entry follows" });
}

export type Unread = {
  readonly line: number;
  readonly why: string;
  /** The part that cannot be read: this line, or all that follows it. */
  readonly lacks: "line" | "rest";
};

type ReadOptions = {
  readonly ignored?: readonly string[];
  readonly recordBytesMax?: number;
};

/** The first line of the CSV names the columns. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  known: field.Fields,
  { ignored = [], recordBytesMax }: ReadOptions = {},
): AsyncGenerator<PayloadEntry | Unread> {
  const isIgnored = (name: string) => ignored.includes(name.replaceAll("_", "-"));
  let names: readonly string[] | undefined;
  for await (const { line, cells } of readRecords(chunks, ",", recordBytesMax)) {
    if (cells === undefined) {
      yield { line, why: "its quotes do not match, or it is too long", lacks: "rest" };
    } else if (names === undefined) {
      names = cells.map((cell) => cell.trim().replaceAll("-", "_"));
      const isKnown = names.every((name) => Object.hasOwn(known, name) || isIgnored(name));
      if (!isKnown) yield { line, why: "a column is unknown", lacks: "rest" };
      const isRepeated = new Set(names).size < names.length;
      if (isRepeated) yield { line, why: "a column is repeated", lacks: "rest" };
    } else if (cells.length !== names.length) {
      yield { line, why: "its columns are not those of line 1", lacks: "line" };
    } else {
      const values = cells.map((cell, at) => [names?.[at] ?? "", cell.trim()] as const);
      yield { line, sent: new Map(values.filter(([name]) => !isIgnored(name))) };
    }
  }
}

/** Names the line, and no value: any may be a card number. */
function broken({ line, why }: Pick<Unread, "line" | "why">): Failure {
  return new Failure("invalid_parameter", `payload: line ${line}: ${why}`);
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Entries of one profile are answered in turn, those of several profiles at the same time. */
async function answerAll(
  entries: readonly PayloadEntry[],
  answer: (entry: PayloadEntry) => Promise<Reply | Failure>,
): Promise<readonly Answered[]> {
  const answers = new Map<PayloadEntry, Reply | Failure>();
  const groups = Map.groupBy(entries, ({ sent }) =>
    [sent.get("recurring_payment_id"), sent.get("client_orderid")].find((id) => id !== undefined),
  ).values();
  const work = async () => {
    for (const group of groups) {
      for (const entry of group) answers.set(entry, await answer(entry));
    }
  };
  // After a bug, the request fails only when no other entry is being charged any more.
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, work));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
  return entries.flatMap((entry) => {
    const answered = answers.get(entry);
    return answered === undefined ? [] : [{ ...entry, answer: answered }];
  });
}

function replyTo(
  answered: readonly Answered[],
  type: string,
  columns: readonly string[],
  { fieldWord }: Pick<CalledParts, "fieldWord">,
): Reply {
  const refused = answered.filter(({ answer }) => answer instanceof Failure).length;
  const names = columns.map((name) => name.replace(/^gw-/, `${fieldWord}-`));
  const lines = answered.map((each) => writeAnswer(each, columns));
  return {
    type,
    fields: [
      ["total", String(answered.length)],
      ["accepted", String(answered.length - refused)],
      ["refused", String(refused)],
      ["payload", writeHead(names) + lines.join("")],
    ],
  };
}

export function writeHead(columns: readonly string[]): string {
  return writeRecord(["line", "client-orderid", ...columns, "error-code", "error-message"]);
}

export function writeAnswer({ line, sent, answer }: Answered, columns: readonly string[]): string {
  const clientOrderId = sent.get("client_orderid") ?? "";
  if (answer instanceof Failure) {
    // Any column of a refused entry may contain a card number.
    const known = [String(line), maskCardNumbers(clientOrderId), ...columns.map(() => "")];
    return writeRecord([...known, String(answer.number), answer.message]);
  }
  const shown = new Map<string, string | undefined>(answer.fields);
  shown.set("gw-order-id", answer.orderId);
  const own = columns.map((name) => shown.get(name) ?? sent.get(name.replaceAll("-", "_")) ?? "");
  return writeRecord([String(line), clientOrderId, ...own, "", ""]);
}
