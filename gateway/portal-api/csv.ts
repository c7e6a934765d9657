/**
 * Orders as lines of a CSV file (RFC 4180). Text of merchants and cardholders that a spreadsheet
 * would run as a formula gets an apostrophe in front.
 */
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
  const lines = orders.map((order) => columns.map(([, read]) => quote(read(order))).join(","));
  return lines.map((line) => `${line}\r\n`).join("");
}

/**
 * Matches formulas. Spreadsheets ignore leading spaces and accept the full-width forms of the
 * signs.
 */
const isFormula = /^[\s\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

function quote(value: string): string {
  const harmless = isFormula.test(value) ? `'${value}` : value;
  return /[",;\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
