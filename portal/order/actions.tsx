/**
 * The actions on an order. Each action shows its effect and asks for a reason, which the audit
 * stores. The button that performs it names the amount.
 */

import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { resentBy } from "../callbacks/delivery-query.ts";
import { Dialog, ReasonInput } from "../design/dialog.tsx";
import { Type } from "../design/status.tsx";
import { useMessages } from "../language/language.tsx";
import { statusColours } from "../language/money-states.ts";
import { wordIn } from "../language/rows.ts";
import { call, type OutputOf } from "../shell/call.ts";
import {
  type Action,
  actionsFor,
  amountField,
  amountOf,
  confirmationOf,
  type Done,
  givenAmount,
  hintOf,
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
  const close = () => setAction(undefined);
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
      <Dialog title={action && names[action]} isOpen={action !== undefined} close={close}>
        {action && <OrderAction action={action} detail={detail} onDone={onDone} close={close} />}
      </Dialog>
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

/** If the same form was sent before, the present request has changed nothing. */
const isRepeat = (done: OutputOf<"POST /actions/run"> | undefined) =>
  done !== undefined && "repeated" in done.result && done.result.repeated === true;

function usePreview(action: Action, { line: { order }, version }: OrderDetail, amount: string) {
  const given = isDecision(action) ? {} : givenAmount(amount);
  return useQuery({
    queryKey: ["preview", order, action, given, version],
    queryFn: async ({ signal }): Promise<Preview> =>
      action === "resend"
        ? { isAllowed: true }
        : call("POST /orders/preview/:order", { order, action, ...given }, { signal }),
    // The preview is read again, because a refused decision may be allowed a moment later.
    refetchInterval: ({ state }) =>
      isDecision(action) && state.data?.isAllowed === false ? refusedEveryMs : false,
  });
}

function OrderAction({ action, detail, onDone, close }: FormProps) {
  const messages = useMessages();
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const [once] = useState(() => crypto.randomUUID());
  const preview = usePreview(action, detail, amount);
  const run = usePerformer(
    () => call("POST /actions/run", requestOf(action, detail, { reason, amount, once })),
    {
      onDone(done) {
        if (isRepeat(done)) return;
        onDone({ action, ...done.result, ...resentBy(done) });
        close();
      },
    },
  );
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
  const { [action]: name } = { ...messages.actions, ...messages.decisions };
  return (
    <PerformerForm
      performer={run}
      label={`${name} ${amountOf(preview.data)}`.trimEnd()}
      refusal={preview.error?.message ?? whyNot(preview.data, messages)}
      isDangerous={isIrreversible(action)}
      isReady={preview.data?.isAllowed === true && isConfirmed(action, amount, detail.line)}
      hint={isDecision(action) ? hintOf(action, detail, messages) : undefined}
    >
      {!isDecision(action) && input}
      <ReasonInput text={reason} write={setReason} />
      {isDecision(action) && input}
      {isRepeat(run.data) && <p role="status">{messages.doneBefore}</p>}
      {preview.data && <Outcome action={action} preview={preview.data} />}
    </PerformerForm>
  );
}

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
