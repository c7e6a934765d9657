/**
 * The orders: search, filters, the list in pages, and the export. All that the user has chosen is
 * in the address. The first page refreshes itself while its window is visible.
 */
import { Head } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { useLanguage } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { useAddress } from "../shell/url.tsx";
import { Export } from "./export.tsx";
import { Filters } from "./filters.tsx";
import { filters, kindsOfSearch, readOrdersQuery } from "./order-query.ts";
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

/** Says in which fields the gateway looked for the searched text. */
function Searched({ search }: { readonly search: string }) {
  const { code, messages } = useLanguage();
  const kinds = kindsOfSearch(search).map((kind) => messages.searchKinds[kind]);
  const list = new Intl.ListFormat(code, { type: "disjunction" }).format(kinds);
  return <h2 className="searched">{messages.searchedBy(search, list)}</h2>;
}
