/**
 * The export: all pages of the list as it is filtered, one after the other, in a file that the
 * browser saves. The button counts the rows, and a second press stops it.
 */
import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import type { OrderLine, OrdersInput } from "./order-query.ts";

const rowsMax = 100_000;
const pageRows = 200;

export function Export({ input }: { readonly input: OrdersInput }) {
  const messages = useMessages();
  const [count, setCount] = useState<number>();
  const [note, setNote] = useState("");
  const stopping = useRef<AbortController>(undefined);

  const start = async () => {
    const controller = new AbortController();
    const { signal } = controller;
    stopping.current = controller;
    setNote("");
    setCount(0);
    try {
      const orders = await readAll(input, signal, setCount);
      save(writeCsv(orders), `orders-${new Date().toISOString().slice(0, 10)}.csv`);
      if (orders.length >= rowsMax) setNote(messages.exportTooLong(rowsMax));
    } catch {
      if (!signal.aborted) setNote(messages.exportFailed);
    }
    setCount(undefined);
  };
  const isRunning = count !== undefined;
  return (
    <>
      <span className="note" role="status">
        {isRunning ? messages.exporting(count) : note}
      </span>
      <Button
        variant="default"
        leftSection={<Icon name={isRunning ? "close" : "download"} size={14} />}
        onClick={() => (isRunning ? stopping.current?.abort() : void start())}
      >
        {isRunning ? messages.cancel : messages.exportCsv}
      </Button>
    </>
  );
}

async function readAll(
  { after: _, ...input }: OrdersInput,
  signal: AbortSignal,
  report: (count: number) => void,
): Promise<readonly OrderLine[]> {
  const orders: OrderLine[] = [];
  let after: string | undefined;
  do {
    const page = { ...input, limit: pageRows, ...(after !== undefined && { after }) };
    const answer = await call("GET /orders", page, { signal });
    orders.push(...answer.orders);
    report(orders.length);
    after = answer.next;
  } while (after !== undefined && orders.length < rowsMax);
  return orders;
}

function save(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

// biome-ignore format: a table
const columns: readonly (readonly [name: string, read: (order: OrderLine) => string])[] = [
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

/**
 * By RFC 4180. Text of merchants and cardholders that a spreadsheet would run as a formula gets an
 * apostrophe in front.
 */
function writeCsv(orders: readonly OrderLine[]): string {
  const lines = orders.map((order) => columns.map(([, read]) => quote(read(order))).join(","));
  return [columns.map(([name]) => name).join(","), ...lines, ""].join("\r\n");
}

function quote(value: string): string {
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
