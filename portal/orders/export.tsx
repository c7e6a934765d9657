/**
 * Exports the filtered list into a file that the browser saves. The gateway writes it part by part.
 * The button counts the rows, and a second press stops the export.
 */
import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { dayOf, exportedRowsMax, type OrdersInput, readParts } from "./order-query.ts";

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
      const read = (part: OrdersInput) => call("GET /exports/orders", part, { signal });
      const { parts, rows } = await readParts(input, read, setCount);
      save(parts, `orders-${dayOf(new Date())}.csv`);
      if (rows >= exportedRowsMax) setNote(messages.exportTooLong(exportedRowsMax));
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

function save(parts: readonly string[], name: string): void {
  const address = URL.createObjectURL(new Blob([...parts], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
