/** A list of sessions with user, browser and network, and a button that ends a session. */
import { Button } from "@mantine/core";
import { Mark, Time } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { describeAgent } from "./users.ts";

type Listed = {
  readonly id: string;
  readonly login?: string;
  readonly isThis: boolean;
  readonly beganAt: number;
  readonly seenAt: number;
  readonly network: string;
  readonly agent: string;
};

type SessionsProps<Session extends Listed> = {
  readonly sessions: readonly Session[];
  readonly end: (session: Session) => void;
};

export function Sessions<Session extends Listed>({ sessions, end }: SessionsProps<Session>) {
  const messages = useMessages();
  if (sessions.length === 0) return <p className="quiet">{messages.noSessions}</p>;
  return (
    <ul className="items">
      {sessions.map((session) => (
        <li key={session.id}>
          <div>
            <b>
              {session.login !== undefined && `${session.login} · `}
              {describeAgent(session.agent)}
            </b>
            <small>
              {session.network} · {messages.lastSeen} <Time at={session.seenAt} />
            </small>
          </div>
          {session.isThis ? (
            <Mark kind="approved">{messages.thisSession}</Mark>
          ) : (
            <Button
              variant="default"
              onClick={() => end(session)}
              {...(session.login !== undefined && {
                "aria-label": messages.endSessionOf(session.login),
              })}
            >
              {messages.endSession}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
