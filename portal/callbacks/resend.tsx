/**
 * The dialog that sends one callback or all filtered callbacks again. It shows how many there are
 * and who receives them, asks for a reason, and shows the progress.
 */
import { useState } from "react";
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { Dialog, ReasonInput } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { type Chosen, maySendAgain, resendRequest, resentBy } from "./delivery-query.ts";

type Props = {
  readonly filter: Chosen;
  readonly isOpen: boolean;
  readonly close: () => void;
};

const lookEveryMs = 1_500;

export function ResendMany({ filter, isOpen, close }: Props) {
  const messages = useMessages();
  return (
    <Dialog title={messages.resendTitle} isOpen={isOpen} close={close}>
      {isOpen && <ResendForm filter={filter} />}
    </Dialog>
  );
}

function ResendForm({ filter }: { readonly filter: Chosen }) {
  const messages = useMessages();
  const [reason, setReason] = useState("");
  const isNamed = maySendAgain(filter);
  const preview = useAnswer("POST /callbacks/preview", filter, { isWanted: isNamed, staleMs: 0 });
  const user = useUser();
  const run = usePerformer(() => call("POST /actions/run", resendRequest(filter, user, reason)));
  if (!isNamed) return <p>{messages.resendNeedsTime}</p>;
  if (run.data !== undefined) return <Progress filter={filter} {...resentBy(run.data)} />;
  const { count = 0, isMore = false, receivers = [] } = preview.data ?? {};
  return (
    <PerformerForm
      performer={run}
      label={messages.resendCount(count)}
      refusal={preview.error?.message}
      isReady={count > 0}
    >
      {preview.data !== undefined && count === 0 && <p>{messages.resendNone}</p>}
      {count > 0 && (
        <section aria-label={messages.resendReceivers}>
          <h3>{messages.resendReceivers}</h3>
          <ul className="items">
            {receivers.map((each) => (
              <li key={each.receiver}>
                <code>{each.receiver}</code>
                <span>{each.count}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {isMore && <p className="hint">{messages.resendMore}</p>}
      <ReasonInput text={reason} write={setReason} />
    </PerformerForm>
  );
}

type ProgressProps = {
  readonly filter: Chosen;
  readonly count: number;
  readonly resentAt: number;
};

function Progress({ filter, count, resentAt }: ProgressProps) {
  const messages = useMessages();
  const { state: _, ...rest } = filter;
  const found = useAnswer(
    "GET /callbacks/progress",
    { ...rest, resentAt },
    { everyMs: (progress) => progress?.waiting !== 0 && lookEveryMs },
  );
  const { delivered = 0, failed = 0 } = found.data ?? {};
  const done = Math.min(delivered, count);
  return (
    <div className="stack" role="status">
      <progress
        className="progress-bar"
        max={Math.max(count, 1)}
        value={done}
        aria-label={messages.progress}
      />
      <p>{messages.resendDone(done, count)}</p>
      {failed > 0 && <p className="hint">{messages.resendFailed(failed)}</p>}
    </div>
  );
}
