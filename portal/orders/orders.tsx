/**
 * The orders: search, filters, the list, its pages and the export. Everything that the user has
 * chosen is in the address. The first page asks for new orders while the window is looked at.
 */
import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Nothing, Pages } from "../design/states.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { live, type User } from "../shell/call.ts";
import { useRowKeys } from "../shell/row-keys.ts";
import { changeQuery, usePlace } from "../shell/url.tsx";
import { Export } from "./export.tsx";
import { Filters } from "./filters.tsx";
import { isFiltered, kindsOfSearch, readOrdersQuery, withoutFilters } from "./order-query.ts";
import { OrderTable, Waiting } from "./order-table.tsx";
import { Search, searchField } from "./search.tsx";
import { Views } from "./views.tsx";

const liveEveryMs = 3_000;

export function Orders({ user }: { readonly user: User }) {
  const messages = useMessages();
  const { query } = usePlace();
  const input = readOrdersQuery(query);
  const isFirstPage = input.after === undefined;
  const found = useQuery({
    queryKey: ["orders", input],
    queryFn: live("GET /orders", input),
    placeholderData: keepPreviousData,
    refetchInterval: isFirstPage ? liveEveryMs : false,
  });
  const orders = found.data?.orders ?? [];
  const rows = orders.map(({ order }) => order);
  useRowKeys({ screen: "orders", rows, search: searchField });

  return (
    <div className="screen">
      <div className="heading">
        <h1>{messages.orders}</h1>
        {isFirstPage && !found.isError && (
          <span className="live" title={messages.liveHint}>
            {messages.live}
          </span>
        )}
        <div className="space" />
        <Export input={input} />
      </div>
      <Views query={query} user={user} />
      <Search query={query} />
      <Filters query={query} user={user} />
      {input.search !== undefined && <Searched search={input.search} />}
      {found.data === undefined ? (
        <Waiting error={found.error} retry={() => void found.refetch()} />
      ) : orders.length === 0 ? (
        <Empty isFiltered={isFiltered(query)} />
      ) : (
        <OrderTable
          orders={orders}
          selected={query.get("row") ?? ""}
          isOld={found.isPlaceholderData}
          user={user}
        />
      )}
      {found.data !== undefined && (
        <Pages text={messages.rows(orders.length)} next={found.data.next} isFirst={isFirstPage} />
      )}
    </div>
  );
}

/** What the rows below were found by. */
function Searched({ search }: { readonly search: string }) {
  const { code, messages } = useLanguage();
  const kinds = kindsOfSearch(search).map((kind) => messages.searchKinds[kind]);
  const list = new Intl.ListFormat(code, { type: "disjunction" }).format(kinds);
  return <h2 className="searched">{messages.searchedBy(search, list)}</h2>;
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }) {
  const messages = useMessages();
  if (!isFiltered) return <Nothing title={messages.noOrders} hint={messages.noOrdersHint} />;
  return (
    <Nothing title={messages.nothingFound} hint={messages.nothingFoundHint}>
      <Button variant="default" onClick={() => changeQuery(withoutFilters)}>
        {messages.clearFilters}
      </Button>
    </Nothing>
  );
}
