/** The filters of deliveries, in the address: state, endpoint, merchant, receiver and time. */
import { TextInput } from "@mantine/core";
import { useMessages } from "../language/language.tsx";
import { FilterButton } from "../orders/filter-button.tsx";
import { changeFilter, FilterBar } from "../orders/filters.tsx";
import { configured, useKnown } from "../orders/order-query.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";
import { filters, states } from "./delivery-query.ts";

export function DeliveryFilters() {
  const messages = useMessages();
  const { isOperator } = useUser();
  const { endpoint, merchant } = configured(useKnown().data);
  const state = states.map((value) => ({ value, label: messages.callbackStates[value] }));
  const choices = { state, endpoint, merchant };
  const names = isOperator
    ? (["state", "endpoint", "merchant"] as const)
    : (["state", "endpoint"] as const);
  const offered = names.map((name) => {
    return { name, label: messages[name], choices: choices[name], isSingle: true };
  });
  return (
    <FilterBar offered={offered} own={filters}>
      <TextFilter name="host" label={messages.receiverHost} />
      <TextFilter name="order" label={messages.order} />
    </FilterBar>
  );
}

type TextProps = { readonly name: string; readonly label: string };

function TextFilter({ name, label }: TextProps) {
  const value = useAddress().query.get(name) ?? "";
  const change = (to: string) => changeFilter({ [name]: to }, { replaces: true });
  return (
    <FilterButton label={label} chosen={value} clear={() => change("")}>
      <TextInput
        size="xs"
        label={label}
        value={value}
        data-autofocus
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
    </FilterButton>
  );
}
