/** One callback: every attempt with its request, its answer and the check of its signature. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { BackLink, Facts, Stamp, Time } from "../design/details.tsx";
import { Failed, ScreenSkeleton } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { live, type OutputOf, type User } from "../shell/call.ts";
import { useKeys } from "../shell/keys.ts";
import { Link, usePlace } from "../shell/url.tsx";
import { readId, resultOf, verdictOf } from "./delivery-query.ts";
import { ResendMany } from "./resend.tsx";
import { DeliveryState, SignedParts } from "./state.tsx";

type Detail = OutputOf<"GET /callbacks/:order/:sequence">;
type Attempted = Detail["attempts"][number];

const liveEveryMs = 3_000;

export function Callback({ user }: { readonly user: User }) {
  const { item } = usePlace();
  const { order, sequence } = readId(item);
  const found = useQuery({
    queryKey: ["callbacks", "one", order, sequence],
    queryFn: (context) => live("GET /callbacks/:order/:sequence", { order, sequence })(context),
    refetchInterval: ({ state }) => (state.data?.callback.state === "due" ? liveEveryMs : false),
  });
  // The window over the screen has its own use of the key.
  const isCovered = () => document.querySelector("[role=dialog]") !== null;
  useKeys([["Escape", () => isCovered() || history.back()]]);
  if (found.data !== undefined) return <Shown detail={found.data} user={user} />;
  if (found.error === null) return <ScreenSkeleton />;
  return <Failed error={found.error} retry={() => void found.refetch()} />;
}

function Shown({ detail, user }: { readonly detail: Detail; readonly user: User }) {
  const messages = useMessages();
  const [isResending, setResending] = useState(false);
  const { callback, attempts } = detail;
  const { order, sequence, url, merchant, madeAt, nextAt, endedAt } = callback;
  const { resentAt, resentBy } = callback;
  return (
    <div className="screen">
      <BackLink to="callbacks" label={messages.callbacks} />
      <div className="heading">
        <h1>{URL.parse(url)?.host ?? order}</h1>
        <DeliveryState callback={callback} />
        <div className="space" />
        {user.rights.includes("resend_callbacks") && (
          <Button variant="default" onClick={() => setResending(true)}>
            {messages.resend}
          </Button>
        )}
      </div>
      <Facts
        facts={[
          [
            messages.order,
            <Link key="order" to={`orders/${order}`}>
              {order}
            </Link>,
          ],
          [messages.merchant, merchant],
          [messages.tries, callback.tries],
          [messages.made, <Time key="made" at={madeAt} />],
          [messages.nextTry, nextAt && <Time key="next" at={nextAt} />],
          [messages.ended, endedAt && <Time key="ended" at={endedAt} />],
          [messages.sentAgain, resentAt && <Stamp key="again" at={resentAt} by={resentBy} />],
          [messages.sentTo, <code key="url">{url}</code>],
        ]}
      />
      <section className="section">
        <h2>{messages.attempts}</h2>
        {attempts.length === 0 && <p className="quiet">{messages.noAttempts}</p>}
        <div className="attempt-list">
          {attempts.toReversed().map((each, at) => (
            <Attempt key={each.attempt.at} attempted={each} isOpen={at === 0} />
          ))}
        </div>
      </section>
      <ResendMany
        filter={{ order, sequence }}
        isOpen={isResending}
        close={() => setResending(false)}
      />
    </div>
  );
}

type AttemptProps = { readonly attempted: Attempted; readonly isOpen: boolean };

function Attempt({ attempted, isOpen }: AttemptProps) {
  const messages = useMessages();
  const { at, method, ms, url, body, answer } = attempted.attempt;
  const { text, isFailed } = resultOf(attempted.attempt);
  return (
    <details open={isOpen} data-failed={isFailed || undefined}>
      <summary>
        <Time at={at} /> · {method} · <b>{text}</b> · {ms} ms
      </summary>
      <h3>{messages.sentTo}</h3>
      <pre>{url}</pre>
      {body !== "" && (
        <>
          <h3>{messages.body}</h3>
          <pre>{body}</pre>
        </>
      )}
      {answer !== undefined && (
        <>
          <h3>{messages.answer}</h3>
          <pre>{answer === "" ? "∅" : answer}</pre>
        </>
      )}
      <Signature {...attempted.signature} />
    </details>
  );
}

function Signature({ parts, result, webhook }: Attempted["signature"]) {
  const messages = useMessages();
  return (
    <>
      <h3>{messages.signature}</h3>
      <div className="verdict" data-is={verdictOf(result)}>
        <p>{messages.signatureResults[result]}</p>
      </div>
      {result !== "absent" && (
        <>
          <p className="hint">{messages.receiverComputes}</p>
          <SignedParts parts={parts} />
        </>
      )}
      {webhook !== undefined && (
        <>
          <p className="hint">{messages.webhookCovers}</p>
          <pre>{webhook}</pre>
        </>
      )}
    </>
  );
}
