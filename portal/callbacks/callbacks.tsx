/**
 * The deliveries of callbacks: filters, a list in pages, and a button that sends the filtered
 * callbacks again. The first page refreshes itself while its window is visible.
 */
import { Button } from "@mantine/core";
import { useState } from "react";
import { Head, Time } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { useMessages } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { Link, useAddress } from "../shell/url.tsx";
import { type Delivery, filters, idOf, readDeliveryQuery, resultOf } from "./delivery-query.ts";
import { DeliveryFilters } from "./filters.tsx";
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
