/** The screen of refused requests, which also shows how many of them were not stored. */
import { Button } from "@mantine/core";
import { Head, Mark, Time } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { useMessages } from "../language/language.tsx";
import { FilterBar } from "../orders/filters.tsx";
import { configured, useKnown } from "../orders/order-query.ts";
import { Search } from "../orders/search.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { go, Link, useAddress } from "../shell/url.tsx";
import { filters, readRequestsQuery, useFormulas } from "./request-query.ts";

const liveEveryMs = 3_000;

export function Requests() {
  const messages = useMessages();
  const { isOperator } = useUser();
  const input = readRequestsQuery(useAddress().query);
  const found = useAnswer("GET /requests", input, {
    everyMs: input.after === undefined && liveEveryMs,
    keepsBefore: true,
  });
  const dropped = found.data?.dropped ?? 0;
  return (
    <div className="screen stack">
      <Head title={messages.requests}>
        <Button variant="default" onClick={() => go("checksum")}>
          {messages.debugger}
        </Button>
      </Head>
      <p className="hint">
        {messages.requestsHint} <Link to="orders">{messages.requestsAreOrders}</Link>.
      </p>
      <RequestFilters />
      <List
        found={found}
        rowsOf={({ requests }) => requests}
        count={messages.refusals}
        none={[messages.noRequests, messages.noRequestsHint]}
        noMatch={[messages.noRequestFound, messages.noRequestFoundHint]}
        filters={filters}
        keyOf={({ serial }) => serial}
        opens={({ serial }) => `requests/${serial}`}
        columns={[
          [
            messages.operation,
            ({ serial, operation }) => <Link to={`requests/${serial}`}>{operation}</Link>,
            "mono",
          ],
          [
            messages.statuses.error,
            ({ isSigned, error }) => <Mark kind={isSigned ? "filtered" : "declined"}>{error}</Mark>,
          ],
          [messages.clientOrder, ({ clientOrder }) => clientOrder, "wide"],
          isOperator && [messages.merchant, ({ merchant }) => merchant, "merchant"],
          [messages.sentFrom, ({ from }) => from, "mono"],
          [messages.sentAt, ({ at }) => <Time at={at} />, "time"],
        ]}
      />
      {dropped > 0 && <p className="hint">{messages.droppedRequests(dropped)}</p>}
    </div>
  );
}

/** The errors that the filter offers, which are only the most frequent ones. */
const errors = [
  { value: "control_mismatch", label: "INVALID_CONTROL_CODE" },
  { value: "access_denied", label: "ACCESS_DENIED" },
  { value: "missing_parameter", label: "MISSING_PARAMETER" },
  { value: "invalid_parameter", label: "INVALID_PARAMETER" },
  { value: "malformed_request", label: "INVALID_REQUEST" },
  { value: "unknown_endpoint", label: "INVALID_ENDPOINT" },
  { value: "duplicate_order", label: "DUPLICATE_ORDER" },
  { value: "order_not_found", label: "ORDER_NOT_FOUND" },
] as const;

function RequestFilters() {
  const messages = useMessages();
  const { isOperator } = useUser();
  const { endpoint, merchant } = configured(useKnown().data);
  const operation = useFormulas().map(({ name }) => ({ value: name, label: name }));
  const offered = [
    { name: "code", label: messages.statuses.error, choices: errors },
    { name: "operation", label: messages.operation, choices: operation },
    { name: "endpoint", label: messages.endpoint, choices: endpoint },
    ...(isOperator ? [{ name: "merchant", label: messages.merchant, choices: merchant }] : []),
  ];
  return (
    <>
      <Search label={messages.searchRequests} />
      <FilterBar offered={offered} own={filters} />
    </>
  );
}
