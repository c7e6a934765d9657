/**
 * Performs an action of a button or form: calls the gateway's API, lets the screens load changed
 * data again, and shows a refusal beside the button.
 */
import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode, Ref } from "react";
import { Refusal } from "../design/states.tsx";
import { CallError } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { sessionKey } from "../shell/session.ts";

export type Options<Done> = {
  /**
   * Which data the portal loads again after the action. By default, it loads that of all screens;
   * with `account` also the session, which has the user's second factors; with `nothing` no data.
   */
  readonly changes?: "account" | "nothing";
  /** Called after the action and after the screens have loaded their data again. */
  readonly onDone?: (done: Done) => unknown;
  readonly onRefused?: () => void;
};

export function usePerformer<Done, Given = void>(
  perform: (given: Given) => Promise<Done>,
  { changes, onDone, onRefused }: Options<Done> = {},
) {
  const queries = useQueryClient();
  const readAgain = async () => {
    if (changes === "nothing") return;
    // The descriptions of actions never change while the portal is open, so they are kept.
    const lasting = ["GET /actions/:action", ...(changes === "account" ? [] : sessionKey)];
    await queries.invalidateQueries({
      predicate: ({ queryKey: [first] }) => !lasting.includes(String(first)),
    });
  };
  return useMutation({
    mutationFn: perform,
    async onSuccess(done) {
      await readAgain();
      await onDone?.(done);
    },
    onError(error) {
      onRefused?.();
      // After a refusal, the data is loaded again, because the user may have acted on an outdated
      // screen. If the gateway did not answer at all, loading would fail as well.
      if (error instanceof CallError && error.status > 0) void readAgain();
    },
  });
}

export type Performer = {
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly mutate: () => void;
};

type FormProps = {
  readonly performer: Performer;
  readonly label: ReactNode;
  readonly hint?: string | undefined;
  /** Why the portal itself refuses the input. It appears while the user is still typing. */
  readonly refusal?: string | undefined;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  readonly variant?: "default";
  readonly className?: string;
  readonly form?: Ref<HTMLFormElement>;
  /** A second button, to the left of the one that submits the form. */
  readonly before?: ReactNode;
  readonly children?: ReactNode;
};

export function PerformerForm({ performer, hint, refusal, children, ...given }: FormProps) {
  const { label, isDangerous = false, isReady = true, variant, className, form, before } = given;
  const { isPending, error, mutate } = performer;
  const button = (
    <Button
      type="submit"
      size="sm"
      loading={isPending}
      disabled={!isReady}
      {...(variant && { variant })}
      {...(isDangerous && { color: "red.8" })}
    >
      {label}
    </Button>
  );
  return (
    <form className={className ?? "stack"} ref={form} onSubmit={submitting(() => mutate())}>
      {hint !== undefined && <p className="quiet">{hint}</p>}
      {children}
      <Refusal text={error?.message ?? refusal} keepsFocus={error === null} />
      {before === undefined ? (
        button
      ) : (
        <div className="line action-buttons">
          {before}
          {button}
        </div>
      )}
    </form>
  );
}
