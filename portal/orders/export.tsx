/**
 * The export: the list as it is filtered, part by part as the gateway writes it, in a file that the
 * browser saves. The button counts the rows, and a second press stops it.
 */
import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import { call, type OutputOf } from "../shell/call.ts";
import type { OrdersInput } from "./order-query.ts";

const rowsMax = 1_000_000;

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
      const { parts, rows } = await readAll(input, signal, setCount);
      save(parts, `orders-${new Date().toISOString().slice(0, 10)}.csv`);
      if (rows >= rowsMax) setNote(messages.exportTooLong(rowsMax));
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

/** The gateway looks through the list part by part; each part goes to the browser's own store. */
async function readAll(
  { after: _, limit: __, ...input }: OrdersInput,
  signal: AbortSignal,
  report: (count: number) => void,
): Promise<{ readonly parts: readonly string[]; readonly rows: number }> {
  const parts: string[] = [];
  let [rows, after]: [number, string | undefined] = [0, undefined];
  do {
    const asked: OrdersInput = after === undefined ? input : { ...input, after };
    const part: OutputOf<"GET /exports/orders"> = await call("GET /exports/orders", asked, {
      signal,
    });
    parts.push(part.csv);
    rows += part.rows;
    report(rows);
    after = part.next;
  } while (after !== undefined && rows < rowsMax);
  return { parts, rows };
}

function save(parts: readonly string[], name: string): void {
  const address = URL.createObjectURL(new Blob([...parts], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
