/** Search and filters of refused requests, in the address. */
import { useQuery } from "@tanstack/react-query";
import { useMessages } from "../language/language.tsx";
import { FilterBar } from "../orders/filters.tsx";
import { configured, useKnown } from "../orders/order-query.ts";
import { Search, searchField } from "../orders/search.tsx";
import { call, type User } from "../shell/call.ts";
import { useKeys } from "../shell/keys.ts";
import { isFiltered, withoutFilters } from "./request-query.ts";

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

type FiltersProps = { readonly query: URLSearchParams; readonly user: User };

export function RequestFilters({ query, user }: FiltersProps) {
  const messages = useMessages();
  const { data: known } = useKnown();
  const { data: formulas } = useQuery({
    queryKey: ["checksum-operations"],
    queryFn: ({ signal }) => call("GET /checksum/operations", {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useKeys([["/", () => document.getElementById(searchField)?.focus()]]);
  const { endpoint, merchant } = configured(known);
  const operation = (formulas?.operations ?? []).map(({ name }) => ({ value: name, label: name }));
  const filters = [
    { name: "code", label: messages.error, choices: errors },
    { name: "operation", label: messages.operation, choices: operation },
    { name: "endpoint", label: messages.endpoint, choices: endpoint },
    ...(user.merchant === undefined
      ? [{ name: "merchant", label: messages.merchant, choices: merchant }]
      : []),
  ];
  return (
    <>
      <Search query={query} label={messages.searchRequests} />
      <FilterBar query={query} filters={filters} own={{ isFiltered, withoutFilters }} />
    </>
  );
}
