/**
 * What the user may do with an order. Each action shows first what it would do, asks for a reason,
 * which goes into the audit, and names the amount on the button that does it.
 */

import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ReasonInput } from "../design/dialog.tsx";
import { Refusal } from "../design/states.tsx";
import { Type } from "../design/status.tsx";
import { useMessages } from "../language/language.tsx";
import { statusColours } from "../language/money-states.ts";
import { wordIn } from "../language/timeline.ts";
import { call } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import {
  type Action,
  actionsFor,
  amountField,
  amountOf,
  confirmationOf,
  type Done,
  givenAmount,
  isConfirmed,
  isDecision,
  isIrreversible,
  outcomeOf,
  type Preview,
  requestOf,
  whyNot,
} from "./action-texts.ts";
import type { OrderDetail } from "./order-texts.ts";

type ActionsProps = { readonly detail: OrderDetail; readonly onDone: (done: Done) => void };

export function Actions({ detail, onDone }: ActionsProps) {
  const messages = useMessages();
  const [action, setAction] = useState<Action>();
  const names = { ...messages.actions, ...messages.decisions };
  return (
    <>
      {detail.receipt !== undefined && (
        <Button component="a" variant="default" href={detail.receipt} target="_blank">
          {messages.receipt}
        </Button>
      )}
      {actionsFor(detail).map((name) => (
        <Button
          key={name}
          variant={name === "capture" || name === "ask" ? "filled" : "default"}
          className={isIrreversible(name) ? "grave" : undefined}
          onClick={() => setAction(name)}
        >
          {names[name]}
        </Button>
      ))}
      <CopyCurl text={detail.curl} />
      <Modal
        opened={action !== undefined}
        onClose={() => setAction(undefined)}
        title={action && names[action]}
        closeButtonProps={{ "aria-label": messages.close }}
      >
        {action && (
          <ActionForm {...{ action, detail, onDone }} close={() => setAction(undefined)} />
        )}
      </Modal>
    </>
  );
}

function CopyCurl({ text }: { readonly text: string }) {
  const messages = useMessages();
  const [state, setState] = useState<"copied" | "copyFailed">();
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("copyFailed"),
    );
  return (
    <>
      <Button variant="default" onClick={() => void copy()}>
        {messages[state === "copied" ? "copied" : "copyCurl"]}
      </Button>
      <span className="note" role="status">
        {state === "copyFailed" && messages.copyFailed}
      </span>
    </>
  );
}

type ConfirmationProps = { readonly done: Done | undefined; readonly detail: OrderDetail };

/** What the user has done, and how it has gone until now. */
export function Confirmation({ done, detail }: ConfirmationProps) {
  const messages = useMessages();
  const { text, status = "" } = done ? confirmationOf(done, detail, messages) : {};
  return (
    <div role="status">
      {text !== undefined && (
        <p className="status confirmation" data-status={wordIn(statusColours, status)}>
          {text}
        </p>
      )}
    </div>
  );
}

type FormProps = ActionsProps & { readonly action: Action; readonly close: () => void };

const refusedEveryMs = 5_000;

/** The same form was sent before, and nothing else was done now. */
const isRepeat = (done: object | undefined) =>
  done !== undefined && "repeated" in done && done.repeated === true;

function usePreview(action: Action, { line: { order }, version }: OrderDetail, amount: string) {
  const given = isDecision(action) ? {} : givenAmount(amount);
  return useQuery({
    queryKey: ["preview", order, action, given, version],
    queryFn: async ({ signal }): Promise<Preview> =>
      action === "resend"
        ? { isAllowed: true }
        : call("POST /orders/preview/:order", { order, action, ...given }, { signal }),
    // What refuses a decision may pass without a new version of the order.
    refetchInterval: ({ state }) =>
      isDecision(action) && state.data?.isAllowed === false ? refusedEveryMs : false,
  });
}

function ActionForm({ action, detail, onDone, close }: FormProps) {
  const messages = useMessages();
  const queries = useQueryClient();
  const { order } = detail.line;
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const [once] = useState(() => crypto.randomUUID());
  const preview = usePreview(action, detail, amount);
  const run = useMutation({
    mutationFn: () => {
      const [route, input] = requestOf(action, detail, { reason, amount, once });
      return call(route, input);
    },
    onSuccess: async (done) => {
      await queries.invalidateQueries({ queryKey: ["order", order] });
      if (isRepeat(done)) return;
      onDone({ action, ...done });
      close();
    },
  });
  const amounts = { most: preview.data?.most, whole: detail.line.amount };
  const texts = amountField(action, amounts, messages);
  const input = texts && (
    <TextInput
      {...texts}
      inputMode="decimal"
      required={isIrreversible(action)}
      value={amount}
      onChange={({ currentTarget }) => setAmount(currentTarget.value)}
    />
  );
  const refusal = run.error?.message ?? preview.error?.message ?? whyNot(preview.data, messages);
  return (
    <form className="action" onSubmit={submitting(() => run.mutate())}>
      {isDecision(action) && <p className="quiet">{messages.decisionHints[action]}</p>}
      {!isDecision(action) && input}
      <ReasonInput text={reason} write={setReason} />
      {isDecision(action) && input}
      <Refusal text={refusal} keepsFocus={run.error === null} />
      {isRepeat(run.data) && <p role="status">{messages.doneBefore}</p>}
      {preview.data && <Outcome action={action} preview={preview.data} />}
      <Button
        type="submit"
        size="sm"
        loading={run.isPending}
        {...(isIrreversible(action) && { color: "red.8" })}
        disabled={preview.data?.isAllowed !== true || !isConfirmed(action, amount, detail.line)}
      >
        {{ ...messages.actions, ...messages.decisions }[action]} {amountOf(preview.data)}
      </Button>
    </form>
  );
}

/** What the action would do now, in words. */
function Outcome({ action, preview }: { readonly action: Action; readonly preview: Preview }) {
  const messages = useMessages();
  if (preview.of === undefined) return null;
  return (
    <p className="outcome">
      <b>
        <Type type={preview.of} /> {amountOf(preview)}
      </b>
      {outcomeOf(action, preview, messages)}
    </p>
  );
}
