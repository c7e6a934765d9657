/** Refused requests: search, filters, the list and its pages, and how many were not kept. */
import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Mark, Time } from "../design/details.tsx";
import { Nothing, Pages, SearchedTo } from "../design/states.tsx";
import { TableHead } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { Waiting } from "../orders/order-table.tsx";
import { live, type OutputOf, type User } from "../shell/call.ts";
import { rowMarks, useRowKeys } from "../shell/row-keys.ts";
import { changeQuery, go, Link, usePlace } from "../shell/url.tsx";
import { RequestFilters } from "./filters.tsx";
import { isFiltered, readRequestsQuery, withoutFilters } from "./request-query.ts";

const liveEveryMs = 3_000;
type Refusal = OutputOf<"GET /requests">["requests"][number];

export function Requests({ user }: { readonly user: User }) {
  const messages = useMessages();
  const { query } = usePlace();
  const input = readRequestsQuery(query);
  const isFirst = input.after === undefined;
  const found = useQuery({
    queryKey: ["requests", input],
    queryFn: live("GET /requests", input),
    placeholderData: keepPreviousData,
    refetchInterval: isFirst ? liveEveryMs : false,
  });
  const requests = found.data?.requests ?? [];
  useRowKeys({ screen: "requests", rows: requests.map(({ serial }) => serial) });
  const dropped = found.data?.dropped ?? 0;
  return (
    <div className="screen">
      <div className="heading">
        <h1>{messages.requests}</h1>
        <div className="space" />
        <Button variant="default" onClick={() => go("checksum")}>
          {messages.debugger}
        </Button>
      </div>
      <p className="hint">
        {messages.requestsHint} <Link to="orders">{messages.requestsAreOrders}</Link>.
      </p>
      <RequestFilters query={query} user={user} />
      {found.data === undefined ? (
        <Waiting error={found.error} retry={() => void found.refetch()} />
      ) : requests.length === 0 ? (
        <Empty isFiltered={isFiltered(query)} />
      ) : (
        <Table requests={requests} user={user} isOld={found.isPlaceholderData} />
      )}
      {dropped > 0 && <p className="hint">{messages.droppedRequests(dropped)}</p>}
      <SearchedTo at={found.data?.searchedTo} />
      {found.data !== undefined && (
        <Pages text={messages.refusals(requests.length)} next={found.data.next} isFirst={isFirst} />
      )}
    </div>
  );
}

type TableProps = {
  readonly requests: readonly Refusal[];
  readonly user: User;
  readonly isOld: boolean;
};

function Table({ requests, user, isOld }: TableProps) {
  const messages = useMessages();
  const selected = usePlace().query.get("row");
  const isOperator = user.merchant === undefined;
  return (
    <table className="rows" aria-busy={isOld}>
      <TableHead
        columns={[
          messages.operation,
          messages.error,
          messages.clientOrder,
          isOperator && messages.merchant,
          messages.sentFrom,
          [messages.sentAt, "time"],
        ]}
      />
      <tbody>
        {requests.map(({ serial, operation, error, isSigned, clientOrder, merchant, from, at }) => (
          <tr key={serial} {...rowMarks(serial, selected)} onClick={() => go(`requests/${serial}`)}>
            <td className="mono first">
              <Link to={`requests/${serial}`}>{operation}</Link>
            </td>
            <td>
              <Mark kind={isSigned ? "filtered" : "declined"}>{error}</Mark>
            </td>
            <td className="wide">{clientOrder}</td>
            {isOperator && <td className="merchant">{merchant}</td>}
            <td className="mono">{from}</td>
            <td className="time">
              <Time at={at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Empty({ isFiltered: isNarrowed }: { readonly isFiltered: boolean }) {
  const messages = useMessages();
  if (!isNarrowed) return <Nothing title={messages.noRequests} hint={messages.noRequestsHint} />;
  return (
    <Nothing title={messages.noRequestFound} hint={messages.noRequestFoundHint}>
      <Button variant="default" onClick={() => changeQuery(withoutFilters)}>
        {messages.clearFilters}
      </Button>
    </Nothing>
  );
}
