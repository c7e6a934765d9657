/** The screen of one callback: every attempt with request, answer and a check of its signature. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { Facts, Head, Loaded, Section, Stamp, Time } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { useKeys } from "../shell/keys.ts";
import { useUser } from "../shell/session.ts";
import { Link, useAddress } from "../shell/url.tsx";
import { readId, verdictOf } from "./delivery-query.ts";
import { ResendMany } from "./resend.tsx";
import { Attempt, DeliveryState, SignedParts } from "./state.tsx";

type Detail = OutputOf<"GET /callbacks/:order/:sequence">;
type SignatureProps = Detail["attempts"][number]["signature"];

const liveEveryMs = 3_000;

export function Callback() {
  const found = useAnswer("GET /callbacks/:order/:sequence", readId(useAddress().item), {
    everyMs: (answer) => answer?.callback.state === "due" && liveEveryMs,
  });
  // The Escape key closes an open dialog. Without one, it leads back to the previous screen.
  const isCovered = () => document.querySelector("[role=dialog]") !== null;
  useKeys([["Escape", () => isCovered() || history.back()]]);
  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

function Shown({ detail }: { readonly detail: Detail }) {
  const messages = useMessages();
  const { may } = useUser();
  const [isResending, setResending] = useState(false);
  const { callback, attempts } = detail;
  const { order, sequence, url, merchant, madeAt, nextAt, endedAt } = callback;
  const { resentAt, resentBy } = callback;
  return (
    <div className="screen stack">
      <Head
        back={{ to: "callbacks", label: messages.callbacks }}
        title={URL.parse(url)?.host ?? order}
        state={<DeliveryState callback={callback} />}
      >
        {may("resend_callbacks") && (
          <Button variant="default" onClick={() => setResending(true)}>
            {messages.resend}
          </Button>
        )}
      </Head>
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
          [messages.address, <code key="url">{url}</code>],
        ]}
      />
      <Section title={messages.attempts}>
        {attempts.length === 0 && <p className="quiet">{messages.noAttempts}</p>}
        <div className="stack attempt-list">
          {attempts.toReversed().map(({ attempt, signature }, at) => (
            <Attempt key={attempt.at} attempt={attempt} isOpen={at === 0} withAddress>
              <Signature {...signature} />
            </Attempt>
          ))}
        </div>
      </Section>
      <ResendMany
        filter={{ order, sequence }}
        isOpen={isResending}
        close={() => setResending(false)}
      />
    </div>
  );
}

function Signature({ parts, result, webhook }: SignatureProps) {
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
