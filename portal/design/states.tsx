/**
 * What a screen shows instead of its rows: while they load, without any, after a failure; and below
 * them, the way to the other pages.
 */
import { Button, Skeleton } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useLanguage, useMessages } from "../language/language.tsx";
import { CallError } from "../shell/call.ts";
import { changeQuery } from "../shell/url.tsx";

type NothingProps = {
  readonly title: string;
  readonly hint: string;
  readonly children?: ReactNode;
};

export function Nothing({ title, hint, children }: NothingProps) {
  return (
    <div className="nothing">
      <h2>{title}</h2>
      <p>{hint}</p>
      {children}
    </div>
  );
}

type FailedProps = { readonly error: Error; readonly retry: () => void };

export function Failed({ error, retry }: FailedProps) {
  const messages = useMessages();
  const isUnreachable = error instanceof CallError && error.status === 0;
  const isForbidden = error instanceof CallError && error.code === "not_allowed";
  if (isForbidden) return <Nothing title={messages.notAllowed} hint={messages.notAllowedHint} />;
  return (
    <div className="nothing" role="alert">
      <h2>{messages.failed}</h2>
      <p>{isUnreachable ? messages.unreachable : error.message}</p>
      <Button variant="default" onClick={retry}>
        {messages.tryAgain}
      </Button>
    </div>
  );
}

type RefusalProps = {
  readonly text: string | undefined;
  /** The user has not sent anything yet, and may be typing. */
  readonly keepsFocus?: boolean;
};

/** Why an action was refused, beside its form. The focus moves there from the button. */
export function Refusal({ text, keepsFocus = false }: RefusalProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (text !== undefined && !keepsFocus) place.current?.focus();
  }, [text, keepsFocus]);
  if (text === undefined) return null;
  return (
    <div className="refusal" role="alert" tabIndex={-1} ref={place}>
      {text}
    </div>
  );
}

export function ScreenSkeleton() {
  return (
    <div className="screen" aria-busy="true">
      <Skeleton height={24} width={160} mb={20} />
      <Skeleton height={34} mb={16} />
      {Array.from({ length: 8 }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content
        <Skeleton key={row} height={20} mb={20} />
      ))}
    </div>
  );
}

/** Of a list whose filter looks through so many rows at a time. */
export function SearchedTo({ at }: { readonly at: number | undefined }) {
  const { messages, showTime, showUtc } = useLanguage();
  if (at === undefined) return null;
  return (
    <p className="hint" title={showUtc(at)}>
      {messages.searchedTo(showTime(at))}
    </p>
  );
}

type PagesProps = {
  /** How many rows this page has, in words. */
  readonly text: string;
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** The rows stand by name, and not the newest first. */
  readonly isByName?: boolean;
};

export function Pages({ text, next, isFirst, isByName = false }: PagesProps) {
  const messages = useMessages();
  const turn = (after: string | undefined) => changeQuery({ after, row: undefined });
  if (text === "" && isFirst && next === undefined) return null;
  return (
    <div className="pages">
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
