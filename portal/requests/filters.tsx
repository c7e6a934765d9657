/** Search and filters of refused requests, in the address. */
import { useMessages } from "../language/language.tsx";
import { FilterBar } from "../orders/filters.tsx";
import { configured, useKnown } from "../orders/order-query.ts";
import { Search } from "../orders/search.tsx";
import { useUser } from "../shell/session.ts";
import { filters, useFormulas } from "./request-query.ts";

/** Those that merchants meet most; others are found by the other filters. */
// biome-ignore format: a table
const errors = [
  { value: "control_mismatch",  label: "INVALID_CONTROL_CODE" },
  { value: "access_denied",     label: "ACCESS_DENIED" },
  { value: "missing_parameter", label: "MISSING_PARAMETER" },
  { value: "invalid_parameter", label: "INVALID_PARAMETER" },
  { value: "malformed_request", label: "INVALID_REQUEST" },
  { value: "unknown_endpoint",  label: "INVALID_ENDPOINT" },
  { value: "duplicate_order",   label: "DUPLICATE_ORDER" },
  { value: "order_not_found",   label: "ORDER_NOT_FOUND" },
] as const;

export function RequestFilters() {
  const messages = useMessages();
  const { isOperator } = useUser();
  const { endpoint, merchant } = configured(useKnown().data);
  const operation = useFormulas().map(({ name }) => ({ value: name, label: name }));
  const offered = [
    { name: "code", label: messages.error, choices: errors },
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
