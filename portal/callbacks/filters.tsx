/** The filters of deliveries, in the address: state, endpoint, merchant, receiver and time. */
import { TextInput } from "@mantine/core";
import { useMessages } from "../language/language.tsx";
import { FilterButton } from "../orders/filter-button.tsx";
import { FilterBar } from "../orders/filters.tsx";
import { configured, useKnown } from "../orders/order-query.ts";
import type { User } from "../shell/call.ts";
import { changeQuery } from "../shell/url.tsx";
import { isFiltered, states, withoutFilters } from "./delivery-query.ts";

type FiltersProps = { readonly query: URLSearchParams; readonly user: User };

export function DeliveryFilters({ query, user }: FiltersProps) {
  const messages = useMessages();
  const { data: known } = useKnown();
  const { endpoint, merchant } = configured(known);
  const choices = {
    state: states.map((value) => ({ value, label: messages.callbackStates[value] })),
    endpoint,
    merchant,
  };
  const shown = (["state", "endpoint", "merchant"] as const).filter(
    (name) => name !== "merchant" || user.merchant === undefined,
  );
  const filters = shown.map((name) => {
    return { name, label: messages[name], choices: choices[name], isSingle: true };
  });
  return (
    <FilterBar query={query} filters={filters} own={{ isFiltered, withoutFilters }}>
      <TextFilter name="host" label={messages.receiverHost} query={query} />
      <TextFilter name="order" label={messages.order} query={query} />
    </FilterBar>
  );
}

type TextProps = {
  readonly name: string;
  readonly label: string;
  readonly query: URLSearchParams;
};

function TextFilter({ name, label, query }: TextProps) {
  const value = query.get(name) ?? "";
  return (
    <FilterButton label={label} chosen={value} clear={() => change({ [name]: undefined })}>
      <TextInput
        size="xs"
        label={label}
        value={value}
        data-autofocus
        onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
      />
    </FilterButton>
  );
}

function change(to: Readonly<Record<string, string | undefined>>): void {
  changeQuery({ ...to, after: undefined, row: undefined }, { replaces: true });
}
