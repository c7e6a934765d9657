/**
 * The screen that lists callbacks, with filters and pages, and a button that sends all filtered
 * callbacks again. The first page refreshes itself while its window is visible.
 */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { Head, Time } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { useMessages } from "../language/language.tsx";
import { FilterButton } from "../orders/filter-button.tsx";
import { changeFilter, FilterBar } from "../orders/filters.tsx";
import { configured, useKnown } from "../orders/order-query.ts";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { Link, useAddress } from "../shell/url.tsx";
import {
  type Delivery,
  filters,
  idOf,
  readDeliveryQuery,
  resultOf,
  states,
} from "./delivery-query.ts";
import { ResendMany } from "./resend.tsx";
import { DeliveryState } from "./state.tsx";

const liveEveryMs = 5_000;

export function Callbacks() {
  const messages = useMessages();
  const { query } = useAddress();
  const { isOperator, may } = useUser();
  const [isResending, setResending] = useState(false);
  const filter = readDeliveryQuery(query);
  const after = query.get("after") ?? undefined;
  const found = useAnswer(
    "GET /callbacks",
    { ...filter, ...(after && { after }) },
    { everyMs: after === undefined && liveEveryMs, keepsBefore: true },
  );
  return (
    <div className="screen stack">
      <Head title={messages.callbacks}>
        {may("resend_callbacks") && (
          <Button variant="default" onClick={() => setResending(true)}>
            {messages.resendMany}
          </Button>
        )}
      </Head>
      <DeliveryFilters />
      <List
        found={found}
        rowsOf={({ callbacks }) => callbacks}
        count={messages.deliveries}
        none={[messages.noDeliveries, messages.noDeliveriesHint]}
        noMatch={[messages.noDeliveryFound, messages.noDeliveryFoundHint]}
        filters={filters}
        keyOf={idOf}
        opens={(callback) => `callbacks/${idOf(callback)}`}
        columns={[
          [messages.order, (callback) => <Order callback={callback} />, "mono"],
          [messages.state, (callback) => <DeliveryState callback={callback} />],
          [
            messages.receiverHost,
            ({ url }) => url.replace(/^https?:\/\//, ""),
            "address",
            ({ url }) => url,
          ],
          isOperator && [messages.merchant, ({ merchant }) => merchant, "merchant"],
          [messages.lastResult, (callback) => <LastResult callback={callback} />, "result"],
          [messages.nextTry, ({ nextAt }) => nextAt && <Time at={nextAt} />, "time next"],
          [messages.made, ({ madeAt }) => <Time at={madeAt} />, "time"],
        ]}
      />
      <ResendMany filter={filter} isOpen={isResending} close={() => setResending(false)} />
    </div>
  );
}

type CellProps = { readonly callback: Delivery };

function Order({ callback }: CellProps) {
  const { order, sequence } = callback;
  return (
    <Link to={`callbacks/${idOf(callback)}`}>
      {order}
      {sequence > 1 && ` · ${sequence}`}
    </Link>
  );
}

function LastResult({ callback }: CellProps) {
  const messages = useMessages();
  const { tries, lastStatus: status, lastFailure: failure } = callback;
  const { text, isFailed } = resultOf({ status, failure });
  return (
    <span data-failed={isFailed || undefined}>
      <b>{text || "–"}</b> {tries > 0 && <small>{messages.triesMade(tries)}</small>}
    </span>
  );
}

function DeliveryFilters() {
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
