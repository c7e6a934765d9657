/**
 * Writes orders as lines of a CSV file (RFC 4180). An apostrophe is put before a text that a
 * spreadsheet would run as a formula.
 */
import { quoteCell, withoutFormula } from "../values/csv-records.ts";
import type { OrderLineView } from "./shapes.ts";

// biome-ignore format: a table
const columns: readonly (readonly [name: string, read: (order: OrderLineView) => string])[] = [
  ["order",        ({ order }) => order],
  ["client order", ({ clientOrder }) => clientOrder],
  ["accepted",     ({ at }) => new Date(at).toISOString()],
  ["merchant",     ({ merchant }) => merchant],
  ["endpoint",     ({ endpoint }) => endpoint],
  ["type",         ({ type }) => type],
  ["status",       ({ status }) => status],
  ["stage",        ({ stage }) => stage],
  ["reason",       ({ reason }) => reason],
  ["amount",       ({ amount }) => amount.text],
  ["currency",     ({ amount }) => amount.currency],
  ["network",      ({ network }) => network],
  ["last four",    ({ lastFour }) => lastFour],
  ["email",        ({ email }) => email],
  ["gate",         ({ gate }) => gate],
  ["rrn",          ({ reference }) => reference],
];

export const csvHeader = `${columns.map(([name]) => name).join(",")}\r\n`;

export function writeCsv(orders: readonly OrderLineView[]): string {
  const lines = orders.map((order) => columns.map(([, read]) => writeCell(read(order))).join(","));
  return lines.map((line) => `${line}\r\n`).join("");
}

/**
 * Most texts of an order come from merchants, cardholders and acquirers' hosts. A formula among
 * them could attack the person who opens the file.
 */
function writeCell(value: string): string {
  return quoteCell(withoutFormula(value));
}
