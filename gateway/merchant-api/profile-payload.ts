/**
 * Many profiles in one request: its payload is CSV (RFC 4180) with an entry for each profile, and
 * columns named like the fields of the operation for one. Each entry is answered as a request of
 * its own, by the same code.
 */
import { randomUUIDv7 } from "node:crypto";
import { readRecords, writeRecord } from "../values/csv-records.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { maskCardNumbers } from "../values/mask-card-numbers.ts";
import * as field from "./fields.ts";
import { type CalledParts, type Operation, operation, type Reply, type Sent } from "./operation.ts";
import { answerEntry } from "./pipeline.ts";

const entriesMax = 1000;
const payloadMax = 1_048_576;
/** Few enough that other requests find room among the queries in flight. */
const atOnce = 32;

/** Entries are counted from 1. */
type Entry = { readonly line: number; readonly sent: Sent };
type Answered = Entry & { readonly answer: Reply | Failure };

type Plural = {
  /** Columns of the reply beside line, order id and error. */
  readonly columns: readonly string[];
  /** Whether each entry has a serial number of its own, as the transaction of an order needs. */
  readonly hasSerialNumbers: boolean;
};

export function pluralOf(one: Operation, { columns, hasSerialNumbers }: Plural): Operation {
  const names = Object.keys(one.request).map((name) => name.replaceAll("_", "-"));
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
      const answered = await answerAll(entries, ({ sent }) => {
        const { serialNumber } = context;
        const own = hasSerialNumbers ? asSerialNumber(randomUUIDv7()) : serialNumber;
        return answerEntry(one, sent, { ...context, serialNumber: own });
      });
      return replyTo(answered, `${name}s-response`, columns, context.services);
    },
  });
}

async function readEntries(
  payload: string,
  { request }: Pick<Operation, "request">,
): Promise<readonly Entry[] | Failure> {
  const entries: Entry[] = [];
  let names: readonly string[] | undefined;
  for await (const { line, cells } of readRecords(bytesOf(payload))) {
    if (cells === undefined) return broken(line, "its quotes do not match, or it is too long");
    if (names === undefined) {
      names = cells.map((cell) => cell.trim().replaceAll("-", "_"));
      const isKnown = names.every((name) => Object.hasOwn(request, name));
      if (!isKnown) return broken(line, "a column is unknown");
      if (new Set(names).size < names.length) return broken(line, "a column is repeated");
      continue;
    }
    if (cells.length !== names.length) return broken(line, "its columns are not those of line 1");
    if (entries.length === entriesMax) return broken(line, `more than ${entriesMax} entries`);
    const values = cells.map((cell, at) => [names?.[at] ?? "", cell.trim()] as const);
    entries.push({ line: entries.length + 1, sent: new Map(values) });
  }
  return entries.length > 0 ? entries : broken(1, "no entry follows");
}

/** Names the line, and no value: any may be a card number. */
function broken(line: number, why: string): Failure {
  return new Failure("invalid_parameter", `payload: line ${line}: ${why}`);
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/**
 * Entries of one profile are answered in their order, and those of several profiles at the same
 * time.
 */
async function answerAll(
  entries: readonly Entry[],
  answer: (entry: Entry) => Promise<Reply | Failure>,
): Promise<readonly Answered[]> {
  const answers = new Map<Entry, Reply | Failure>();
  const groups = Map.groupBy(entries, ({ sent }) =>
    [sent.get("recurring_payment_id"), sent.get("client_orderid")].find((id) => id !== undefined),
  ).values();
  const work = async () => {
    for (const group of groups) {
      for (const entry of group) answers.set(entry, await answer(entry));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
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
  const head = ["line", "client-orderid", ...names, "error-code", "error-message"];
  const lines = answered.map(({ line, sent, answer }) => {
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
  });
  return {
    type,
    fields: [
      ["total", String(answered.length)],
      ["accepted", String(answered.length - refused)],
      ["refused", String(refused)],
      ["payload", writeRecord(head) + lines.join("")],
    ],
  };
}
