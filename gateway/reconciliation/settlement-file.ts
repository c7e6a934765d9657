/** The acquirer's settlement file, as lines of money. */
import { type SettlementKind, settlementKinds } from "../orders/settlement-items.ts";
import type { Money } from "../values/money.ts";
import {
  type FileFormat,
  type FileRow,
  readMoney,
  readReference,
  readRows,
  readWord,
  usualNames,
} from "./acquirer-file.ts";

export type SettlementLine = {
  readonly line: number;
  readonly reference: string;
  readonly kind: SettlementKind;
  readonly money: Money;
};

/** `ignore`: the line moves no money of a payment, such as a hold, a fee or a sum. */
type SettlementWord = SettlementKind | "ignore";
const columns = ["reference", "kind", "amount", "currency"] as const;
type SettlementColumn = (typeof columns)[number];
export type SettlementFormat = FileFormat<SettlementColumn, SettlementWord>;

export const settlementColumns = usualNames(columns);

// Every word is a key of the table.
const ownKinds = Object.keys(settlementKinds) as SettlementKind[];
export const settlementWords: readonly SettlementWord[] = [...ownKinds, "ignore"];

export async function* readSettlementFile(
  chunks: AsyncIterable<Uint8Array>,
  format: SettlementFormat,
): AsyncGenerator<SettlementLine> {
  for await (const row of readRows(chunks, format)) {
    const line = readLine(row, format);
    if (line !== undefined) yield line;
  }
}

function readLine(row: FileRow<SettlementColumn>, format: SettlementFormat) {
  const kind = readWord(row, "kind", format.words);
  if (kind === "ignore") return undefined;
  const reference = readReference(row);
  const amount = readMoney(row, format.amounts);
  if (kind === undefined || reference === undefined || amount === undefined) return undefined;
  // Some acquirers write a minus before a refund; before a charge it has no meaning.
  if (amount.isNegative && settlementKinds[kind] === "debit") {
    row.complain("amount", "negative for money that was taken");
  }
  return { line: row.line, reference, kind, money: amount.money };
}
