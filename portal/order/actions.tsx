/**
 * What the user may do with an order. Each action shows first what it would do, asks for a reason,
 * which goes into the audit, and names the amount on the button that does it.
 */

import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ReasonInput } from "../design/dialog.tsx";
import { Refusal } from "../design/states.tsx";
import { Type } from "../design/status.tsx";
import { useMessages } from "../language/language.tsx";
import { call, type OutputOf } from "../shell/call.ts";

type Detail = OutputOf<"GET /orders/:order">;
type Decision = Detail["may"]["settle"][number];
type Action = "capture" | "return" | "resend" | Decision;

export function Actions({ detail }: { readonly detail: Detail }) {
  const messages = useMessages();
  const [action, setAction] = useState<Action>();
  const moves = (["capture", "return", "resend"] as const).filter((name) => detail.may[name]);
  const offered: readonly Action[] = [...moves, ...detail.may.settle];
  const names = { ...messages.actions, ...messages.decisions };
  return (
    <>
      {detail.receipt !== undefined && (
        <Button component="a" variant="default" href={detail.receipt} target="_blank">
          {messages.receipt}
        </Button>
      )}
      {offered.map((name) => (
        <Button key={name} variant="default" onClick={() => setAction(name)}>
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
          <ActionForm action={action} detail={detail} close={() => setAction(undefined)} />
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

type FormProps = {
  readonly action: Action;
  readonly detail: Detail;
  readonly close: () => void;
};

const refusedEveryMs = 5_000;

function ActionForm({ action, detail, close }: FormProps) {
  const messages = useMessages();
  const queries = useQueryClient();
  const { order } = detail.line;
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const given = amount.trim() === "" ? {} : { amount: amount.trim() };
  const preview = useQuery({
    queryKey: ["preview", order, action, given, detail.version],
    queryFn: async ({ signal }): Promise<Preview> =>
      action === "resend"
        ? { isAllowed: true }
        : call("POST /orders/preview/:order", { order, action, ...given }, { signal }),
    // What refuses a decision may pass without a new version of the order.
    refetchInterval: ({ state }) =>
      isDecision(action) && state.data?.isAllowed === false ? refusedEveryMs : false,
  });
  const run = useMutation({
    mutationFn: () => send(action, detail, reason, given),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["order", order] });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run.mutate();
  };
  const refusal = run.error?.message ?? preview.error?.message ?? whyNot(preview.data, messages);
  return (
    <form className="action" onSubmit={submit}>
      {isDecision(action) && <p className="quiet">{messages.decisionHints[action]}</p>}
      {(action === "capture" || action === "return") && (
        <TextInput
          label={messages.amount}
          description={messages.wholeAmount}
          inputMode="decimal"
          value={amount}
          onChange={({ currentTarget }) => setAmount(currentTarget.value)}
        />
      )}
      <ReasonInput text={reason} write={setReason} />
      <Refusal text={refusal} />
      {preview.data && <Outcome action={action} preview={preview.data} />}
      <Button
        type="submit"
        size="sm"
        loading={run.isPending}
        disabled={preview.data?.isAllowed !== true}
      >
        {{ ...messages.actions, ...messages.decisions }[action]} {describe(preview.data)}
      </Button>
    </form>
  );
}

type Preview = OutputOf<"POST /orders/preview/:order">;

function whyNot(preview: Preview | undefined, { refusalOf }: ReturnType<typeof useMessages>) {
  const { why, code = "" } = preview ?? {};
  return why === undefined ? undefined : refusalOf(code, why);
}

function describe(preview: Preview | undefined): string {
  return preview?.amount === undefined ? "" : `${preview.amount.text} ${preview.amount.currency}`;
}

/** What the action would do now, in words. */
function Outcome({ action, preview }: { readonly action: Action; readonly preview: Preview }) {
  const messages = useMessages();
  const { of, becomes } = preview;
  if (of === undefined) return null;
  const { decided } = messages;
  const text = () => {
    if (!isDecision(action)) return messages.begins[action === "capture" ? "capture" : kindOf(of)];
    if (action === "ask") return decided.asked;
    return becomes === undefined ? decided.stays : decided[becomes];
  };
  return (
    <p className="outcome">
      <b>
        <Type type={of} /> {describe(preview)}
      </b>
      {text()}
    </p>
  );
}

function kindOf(of: NonNullable<Preview["of"]>): "refund" | "cancel" {
  return of === "cancel" ? "cancel" : "refund";
}

function isDecision(action: Action): action is Decision {
  return action === "ask" || action === "settle-done" || action === "settle-not-done";
}

/** A decision names the version that was shown. */
async function send(
  action: Action,
  { line: { order }, version }: Detail,
  reason: string,
  given: { readonly amount?: string },
): Promise<void> {
  const input = { order, reason, ...given };
  const settle = (outcome: "done" | "not-done") =>
    call("POST /orders/settle/:order", { order, reason, version, outcome });
  if (action === "resend") await call("POST /callbacks/resend", { order, reason });
  if (action === "capture") await call("POST /orders/capture/:order", input);
  if (action === "return") await call("POST /orders/return/:order", input);
  if (action === "ask") await call("POST /orders/ask/:order", { order, reason, version });
  if (action === "settle-done") await settle("done");
  if (action === "settle-not-done") await settle("not-done");
}
