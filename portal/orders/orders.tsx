/**
 * The orders screen: the search, the filters, the list in pages and the export. All choices of the
 * user are in the URL. The first page of the list refreshes itself while its window is visible.
 */
import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import { Head } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { List } from "../design/list.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { useAddress } from "../shell/url.tsx";
import { Filters } from "./filters.tsx";
import {
  dayOf,
  exportedRowsMax,
  filters,
  kindsOfSearch,
  type OrdersInput,
  readOrdersQuery,
  readParts,
} from "./order-query.ts";
import { OrderTable } from "./order-table.tsx";
import { Search } from "./search.tsx";
import { Views } from "./views.tsx";

const liveEveryMs = 3_000;

export function Orders() {
  const { messages } = useLanguage();
  const input = readOrdersQuery(useAddress().query);
  const isFirstPage = input.after === undefined;
  const found = useAnswer("GET /orders", input, {
    everyMs: isFirstPage && liveEveryMs,
    keepsBefore: true,
  });
  return (
    <div className="screen stack">
      <Head
        title={messages.orders}
        state={
          isFirstPage &&
          !found.isError && (
            <span className="line live" title={messages.liveHint}>
              {messages.live}
            </span>
          )
        }
      >
        <Export input={input} />
      </Head>
      <Views />
      <Search label={messages.searchOrders} />
      <Filters />
      {input.search !== undefined && <Searched search={input.search} />}
      <List
        found={found}
        rowsOf={({ orders }) => orders}
        count={messages.rows}
        none={[messages.noOrders, messages.noOrdersHint]}
        noMatch={[messages.nothingFound, messages.nothingFoundHint]}
        filters={filters}
      >
        {(orders) => <OrderTable orders={orders} isOld={found.isPlaceholderData} />}
      </List>
    </div>
  );
}

function Searched({ search }: { readonly search: string }) {
  const { code, messages } = useLanguage();
  const kinds = kindsOfSearch(search).map((kind) => messages.searchKinds[kind]);
  const list = new Intl.ListFormat(code, { type: "disjunction" }).format(kinds);
  return <h2 className="searched">{messages.searchedBy(search, list)}</h2>;
}

/**
 * The browser saves the export, which the gateway sends in parts, as a file. The button shows how
 * many rows have arrived, and a second click stops the export.
 */
function Export({ input }: { readonly input: OrdersInput }) {
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
