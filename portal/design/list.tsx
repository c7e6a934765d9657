/**
 * A list whose filters and page are in the URL. It shows the rows or why there are none, how far
 * back the gateway has searched, and buttons for the other pages.
 */
import { Button, Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { useLanguage } from "../language/language.tsx";
import type { makeFilters } from "../orders/order-query.ts";
import { changeQuery, useAddress } from "../shell/url.tsx";
import { Failed, type Found, Nothing } from "./states.tsx";
import { Table, type TableProps } from "./table.tsx";

type Page = { readonly next?: string | undefined; readonly searchedTo?: number | undefined };
type Texts = readonly [title: string, hint: string];

type ListProps<Answer extends object, Row> = {
  readonly found: Found<Answer>;
  readonly rowsOf: (answer: Answer) => readonly Row[];
  /** Describes how many rows this page shows. */
  readonly count?: (rows: number) => string;
  /** Shown if the list is empty without any filter. */
  readonly none: Texts;
  /** Shown if no row matches the filters. */
  readonly noMatch?: Texts;
  readonly filters?: ReturnType<typeof makeFilters>;
  /** If false, the newest row comes first. */
  readonly isByName?: boolean;
} & (Omit<TableProps<Row>, "rows" | "none" | "isOld"> | Drawn<Row>);

/** The function `children` renders the rows in place of a table. */
type Drawn<Row> = { readonly children: (rows: readonly Row[]) => ReactNode };

export function List<Answer extends object, Row>({
  found,
  rowsOf,
  ...given
}: ListProps<Answer, Row>) {
  const { count, none, noMatch, filters, isByName = false, ...shown } = given;
  const { messages, showTime, showUtc } = useLanguage();
  const { query } = useAddress();
  const { data, error, refetch } = found;
  if (data === undefined) return <Waiting error={error} retry={() => void refetch()} />;
  const rows = rowsOf(data);
  const drawn =
    "children" in shown ? (
      shown.children(rows)
    ) : (
      <Table rows={rows} isOld={found.isPlaceholderData} {...shown} />
    );
  const isFiltered = filters?.isFiltered(query) === true;
  const [title, hint] = (isFiltered && noMatch) || none;
  const { next, searchedTo }: Page = data;
  return (
    <>
      {rows.length > 0 ? (
        drawn
      ) : (
        <Nothing title={title} hint={hint}>
          {isFiltered && (
            <Button variant="default" onClick={() => changeQuery(filters.withoutFilters)}>
              {messages.clearFilters}
            </Button>
          )}
        </Nothing>
      )}
      {searchedTo !== undefined && (
        <p className="hint" title={showUtc(searchedTo)}>
          {messages.searchedTo(showTime(searchedTo))}
        </p>
      )}
      <Pages text={count?.(rows.length)} next={next} isByName={isByName} />
    </>
  );
}

type WaitingProps = { readonly error: Error | null; readonly retry: () => void };

function Waiting({ error, retry }: WaitingProps) {
  if (error !== null) return <Failed error={error} retry={retry} />;
  return (
    <div className="waiting" aria-busy="true">
      {Array.from({ length: 12 }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content
        <Skeleton key={row} height={14} />
      ))}
    </div>
  );
}

type PagesProps = {
  readonly text?: string | undefined;
  readonly next: string | undefined;
  readonly isByName: boolean;
};

function Pages({ text, next, isByName }: PagesProps) {
  const { messages } = useLanguage();
  const isFirst = !useAddress().query.has("after");
  const turn = (after: string | undefined) => changeQuery({ after, row: undefined });
  if (text === undefined && isFirst && next === undefined) return null;
  return (
    <div className="line quiet">
      <span>{text}</span>
      <div className="space" />
      <Button variant="default" disabled={isFirst} onClick={() => turn(undefined)}>
        {isByName ? messages.firstPage : messages.newest}
      </Button>
      <Button variant="default" disabled={next === undefined} onClick={() => turn(next)}>
        {isByName ? messages.nextPage : messages.older}
      </Button>
    </div>
  );
}
