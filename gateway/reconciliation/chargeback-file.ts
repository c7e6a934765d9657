/** The acquirer's file of chargebacks: one line for each stage of each case. */
import type { Chargeback, ChargebackStage } from "../orders/order.ts";
import { type Instant, parseDate } from "../values/time.ts";
import {
  type FileFormat,
  type FileRow,
  readMoney,
  readReference,
  readRows,
  readWord,
  usualNames,
} from "./acquirer-file.ts";

export type ChargebackLine = {
  readonly line: number;
  readonly reference: string;
  readonly chargeback: Omit<Chargeback, "serialNumber">;
};

const columns = ["case", "reference", "amount", "currency", "reason", "stage", "at"] as const;
type ChargebackColumn = (typeof columns)[number];
type ChargebackFormat = FileFormat<ChargebackColumn, ChargebackStage>;

export const chargebackColumns = usualNames(columns);

/** All of it: a fault in the last line must refuse the first one too. */
export async function readChargebackFile(
  chunks: AsyncIterable<Uint8Array>,
  format: ChargebackFormat,
): Promise<readonly ChargebackLine[]> {
  const lines: ChargebackLine[] = [];
  for await (const row of readRows(chunks, format)) {
    const line = readLine(row, format);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

function readLine(row: FileRow<ChargebackColumn>, format: ChargebackFormat) {
  const caseId = readText(row, "case", 40);
  const reason = readText(row, "reason", 100);
  const stage = readWord(row, "stage", format.words);
  const reference = readReference(row);
  // Some acquirers write what they take with a minus.
  const amount = readMoney(row, format.amounts)?.money;
  const at = readTime(row);
  if (caseId === undefined || reason === undefined || stage === undefined) return undefined;
  if (reference === undefined || amount === undefined || at === undefined) return undefined;
  return { line: row.line, reference, chargeback: { caseId, stage, amount, reason, at } };
}

/** It is stored, shown and sent to the merchant, so a card number must not be in it. */
function readText(
  { cells, complain }: FileRow<ChargebackColumn>,
  column: "case" | "reason",
  charactersMax: number,
): string | undefined {
  const text = cells[column].replace(/\s+/g, " ");
  const isPlain = !/[\p{Cc}\ufffd]/u.test(text) && text.length <= charactersMax;
  const mayBeCard = column === "reason" && /\d(?:[ -]?\d){11}/.test(text);
  if (text !== "" && isPlain && !mayBeCard) return text;
  complain(column, `not 1 to ${charactersMax} characters without a card number`);
  return undefined;
}

function readTime({ cells, complain }: FileRow<ChargebackColumn>): Instant | undefined {
  const [, day, time = "00:00"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)Z?)?$/.exec(cells.at) ?? [];
  const at = day === undefined ? undefined : parseDate(`${day}T${time}Z`);
  if (at === undefined) complain("at", "not a date like 2030-01-31 or 2030-01-31T12:00:00Z");
  return at;
}
