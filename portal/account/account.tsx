/** The user's own account: password, second factors and sessions. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { Failed, Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { OwnPassword, SecretInput } from "../sign-in/step.tsx";
import { Authenticator } from "./authenticator.tsx";
import { Panel } from "./panel.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Sessions } from "./sessions.tsx";
import { roleName } from "./users.ts";

export function Account() {
  const messages = useMessages();
  const session = useQuery({
    queryKey: ["session"],
    queryFn: ({ signal }) => call("GET /session", {}, { signal, isPoll: true }),
  });
  const factors = session.data?.factors ?? { totp: false, passkeys: 0, recoveryCodes: 0 };
  return (
    <div className="screen account">
      <div className="heading">
        <h1>{messages.account}</h1>
        <span className="note">
          {session.data?.user?.login} · {roleName(messages, session.data?.user?.role)}
        </span>
      </div>
      <Panel title={messages.password} hint={messages.passwordHint}>
        <ChangePassword />
      </Panel>
      <Authenticator factors={factors} />
      <Passkeys />
      <Panel title={messages.sessions}>
        <OwnSessions />
      </Panel>
    </div>
  );
}

function ChangePassword() {
  const messages = useMessages();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const send = usePerformer(() => call("POST /password", { current, next }), {
    onDone() {
      setNext("");
      setCurrent("");
    },
    onRefused: () => setCurrent(""),
  });
  return (
    <PerformerForm performer={send} label={messages.savePassword} variant="default">
      <OwnPassword label={messages.currentPassword} value={current} onChange={setCurrent} />
      <SecretInput
        label={messages.nextPassword}
        autoComplete="new-password"
        value={next}
        onChange={setNext}
      />
      {send.isSuccess && (
        <p className="success" role="status">
          {messages.passwordSaved}
        </p>
      )}
    </PerformerForm>
  );
}

function OwnSessions() {
  const found = useQuery({
    queryKey: ["sessions"],
    queryFn: ({ signal }) => call("GET /sessions", {}, { signal }),
  });
  const end = usePerformer((session: string) =>
    call("POST /sessions/revoke/:session", { session }),
  );
  if (found.error !== null) {
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  }
  return (
    <>
      <Refusal text={end.error?.message} />
      {found.data && <Sessions sessions={found.data.sessions} end={({ id }) => end.mutate(id)} />}
    </>
  );
}
