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
import { call } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import {
  type Action,
  actionsFor,
  amountOf,
  givenAmount,
  isDecision,
  outcomeOf,
  type Preview,
  requestOf,
  whyNot,
} from "./action-texts.ts";
import type { OrderDetail } from "./order-texts.ts";

export function Actions({ detail }: { readonly detail: OrderDetail }) {
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
  readonly detail: OrderDetail;
  readonly close: () => void;
};

const refusedEveryMs = 5_000;

/** The same form was sent before, and nothing else was done now. */
const isRepeat = (done: object | undefined) =>
  done !== undefined && "repeated" in done && done.repeated === true;

function ActionForm({ action, detail, close }: FormProps) {
  const messages = useMessages();
  const queries = useQueryClient();
  const { order } = detail.line;
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const [once] = useState(() => crypto.randomUUID());
  const given = givenAmount(amount);
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
    mutationFn: () => {
      const [route, input] = requestOf(action, detail, { reason, amount, once });
      return call(route, input);
    },
    onSuccess: async (done) => {
      await queries.invalidateQueries({ queryKey: ["order", order] });
      if (!isRepeat(done)) close();
    },
  });
  const refusal = run.error?.message ?? preview.error?.message ?? whyNot(preview.data, messages);
  return (
    <form className="action" onSubmit={submitting(() => run.mutate())}>
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
      {isRepeat(run.data) && <p role="status">{messages.doneBefore}</p>}
      {preview.data && <Outcome action={action} preview={preview.data} />}
      <Button
        type="submit"
        size="sm"
        loading={run.isPending}
        disabled={preview.data?.isAllowed !== true}
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
