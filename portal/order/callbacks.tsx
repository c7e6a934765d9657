/** The order's callbacks: where each went, and every attempt with its body and the answer. */
import { resultOf } from "../callbacks/delivery-query.ts";
import { DeliveryState } from "../callbacks/state.tsx";
import { Time } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";

type Callback = OutputOf<"GET /orders/:order">["callbacks"][number];
type Attempt = Callback["attempts"][number];

export function Callbacks({ callbacks }: { readonly callbacks: readonly Callback[] }) {
  const messages = useMessages();
  if (callbacks.length === 0) return <p className="quiet">{messages.noCallbacks}</p>;
  return (
    <ul className="callbacks">
      {callbacks.map(({ callback, attempts }) => (
        <li key={callback.sequence}>
          <div className="event">
            <DeliveryState callback={callback} />
            <code>{callback.url}</code>
            {callback.nextAt !== undefined && (
              <small>
                {messages.nextTry} <Time at={callback.nextAt} />
              </small>
            )}
          </div>
          {attempts.map((attempt) => (
            <AttemptLine key={attempt.at} attempt={attempt} />
          ))}
        </li>
      ))}
    </ul>
  );
}

function AttemptLine({ attempt }: { readonly attempt: Attempt }) {
  const messages = useMessages();
  const { at, method, ms, body, answer } = attempt;
  const { text, isFailed } = resultOf(attempt);
  return (
    <details data-failed={isFailed || undefined}>
      <summary>
        <Time at={at} /> · {method} · <b>{text}</b> · {ms} ms
      </summary>
      <h3>{messages.body}</h3>
      <pre>{body}</pre>
      <h3>{messages.answer}</h3>
      <pre>{answer}</pre>
    </details>
  );
}
