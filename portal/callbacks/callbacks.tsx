/**
 * The deliveries of callbacks: filters, the list, its pages, and sending again what the filters
 * name. The first page asks for news while the window is looked at.
 */
import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Time } from "../design/details.tsx";
import { Nothing, Pages, SearchedTo } from "../design/states.tsx";
import { TableHead } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { Waiting } from "../orders/order-table.tsx";
import { live, type User } from "../shell/call.ts";
import { rowMarks, useRowKeys } from "../shell/row-keys.ts";
import { changeQuery, go, Link, usePlace } from "../shell/url.tsx";
import {
  type Delivery,
  idOf,
  isFiltered,
  readDeliveryQuery,
  resultOf,
  withoutFilters,
} from "./delivery-query.ts";
import { DeliveryFilters } from "./filters.tsx";
import { ResendMany } from "./resend.tsx";
import { DeliveryState } from "./state.tsx";

const liveEveryMs = 5_000;

export function Callbacks({ user }: { readonly user: User }) {
  const messages = useMessages();
  const { query } = usePlace();
  const [isResending, setResending] = useState(false);
  const filter = readDeliveryQuery(query);
  const after = query.get("after") ?? undefined;
  const input = { ...filter, ...(after && { after }) };
  const found = useQuery({
    queryKey: ["callbacks", input],
    queryFn: live("GET /callbacks", input),
    placeholderData: keepPreviousData,
    refetchInterval: after === undefined ? liveEveryMs : false,
  });
  const callbacks = found.data?.callbacks ?? [];
  useRowKeys({ screen: "callbacks", rows: callbacks.map(idOf) });
  return (
    <div className="screen">
      <div className="heading">
        <h1>{messages.callbacks}</h1>
        <div className="space" />
        {user.rights.includes("resend_callbacks") && (
          <Button variant="default" onClick={() => setResending(true)}>
            {messages.resendMany}
          </Button>
        )}
      </div>
      <DeliveryFilters query={query} user={user} />
      {found.data === undefined ? (
        <Waiting error={found.error} retry={() => void found.refetch()} />
      ) : callbacks.length === 0 ? (
        <Empty isFiltered={isFiltered(query)} />
      ) : (
        <Table callbacks={callbacks} user={user} isOld={found.isPlaceholderData} />
      )}
      <SearchedTo at={found.data?.searchedTo} />
      {found.data !== undefined && (
        <Pages
          text={messages.deliveries(callbacks.length)}
          next={found.data.next}
          isFirst={after === undefined}
        />
      )}
      <ResendMany filter={filter} isOpen={isResending} close={() => setResending(false)} />
    </div>
  );
}

type TableProps = {
  readonly callbacks: readonly Delivery[];
  readonly user: User;
  readonly isOld: boolean;
};

function Table({ callbacks, user, isOld }: TableProps) {
  const messages = useMessages();
  const selected = usePlace().query.get("row");
  const isOperator = user.merchant === undefined;
  return (
    <table className="rows" aria-busy={isOld}>
      <TableHead
        columns={[
          messages.order,
          messages.state,
          messages.receiverHost,
          isOperator && messages.merchant,
          messages.lastResult,
          [messages.nextTry, "time"],
          [messages.made, "time"],
        ]}
      />
      <tbody>
        {callbacks.map((callback) => (
          <Row
            key={idOf(callback)}
            callback={callback}
            selected={selected}
            isOperator={isOperator}
          />
        ))}
      </tbody>
    </table>
  );
}

type RowProps = {
  readonly callback: Delivery;
  readonly selected: string | null;
  readonly isOperator: boolean;
};

function Row({ callback, selected, isOperator }: RowProps) {
  const messages = useMessages();
  const { order, sequence, url, merchant, tries, madeAt, nextAt } = callback;
  const { lastStatus: status, lastFailure: failure } = callback;
  const { text, isFailed } = resultOf({ status, failure });
  const id = idOf(callback);
  return (
    <tr {...rowMarks(id, selected)} onClick={() => go(`callbacks/${id}`)}>
      <td className="mono first">
        <Link to={`callbacks/${id}`}>
          {order}
          {sequence > 1 && ` · ${sequence}`}
        </Link>
      </td>
      <td>
        <DeliveryState callback={callback} />
      </td>
      <td className="address" title={url}>
        {url.replace(/^https?:\/\//, "")}
      </td>
      {isOperator && <td className="merchant">{merchant}</td>}
      <td className="result" data-failed={isFailed || undefined}>
        <b>{text || "–"}</b> {tries > 0 && <small>{messages.triesMade(tries)}</small>}
      </td>
      <td className="time next" data-name={messages.nextTry}>
        {nextAt !== undefined && <Time at={nextAt} />}
      </td>
      <td className="time">
        <Time at={madeAt} />
      </td>
    </tr>
  );
}

function Empty({ isFiltered: isNarrowed }: { readonly isFiltered: boolean }) {
  const messages = useMessages();
  if (!isNarrowed) {
    return <Nothing title={messages.noDeliveries} hint={messages.noDeliveriesHint} />;
  }
  return (
    <Nothing title={messages.noDeliveryFound} hint={messages.noDeliveryFoundHint}>
      <Button variant="default" onClick={() => changeQuery(withoutFilters)}>
        {messages.clearFilters}
      </Button>
    </Nothing>
  );
}
