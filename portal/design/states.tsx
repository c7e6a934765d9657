/** Replacements of a screen's content while it loads, if it is empty, and after a failure. */
import { Button, Skeleton } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useMessages } from "../language/language.tsx";
import { CallError } from "../shell/call.ts";

/** `data` is undefined until the gateway's answer arrives. */
export type Found<Answer> = {
  readonly data: Answer | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
  /** Whether `data` still answers the previous request, for example with other filters. */
  readonly isPlaceholderData?: boolean;
};

type NothingProps = {
  readonly title: string;
  readonly hint: string;
  readonly children?: ReactNode;
};

export function Nothing({ title, hint, children }: NothingProps) {
  return (
    <div className="stack nothing">
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
    <div className="stack nothing" role="alert">
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
  /** Set if the text may appear while the user is typing. The focus then stays in the field. */
  readonly keepsFocus?: boolean;
};

/** The focus moves from the form's button to the reason why the action was refused. */
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
    <div className="screen stack" aria-busy="true">
      <Skeleton height={24} width={160} mb={20} />
      <Skeleton height={34} mb={16} />
      {Array.from({ length: 8 }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content
        <Skeleton key={row} height={20} mb={20} />
      ))}
    </div>
  );
}
