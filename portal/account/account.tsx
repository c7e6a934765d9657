/** The user's own account: password, second factors and sessions. */
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Failed, Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
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
  const queries = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const send = useMutation({
    mutationFn: () => call("POST /password", { current, next }),
    async onSuccess() {
      setNext("");
      await queries.invalidateQueries({ queryKey: ["sessions"] });
    },
    onSettled: () => setCurrent(""),
  });
  return (
    <form className="action" onSubmit={submitting(() => send.mutate())}>
      <OwnPassword label={messages.currentPassword} value={current} onChange={setCurrent} />
      <SecretInput
        label={messages.nextPassword}
        autoComplete="new-password"
        value={next}
        onChange={setNext}
      />
      <Refusal text={send.error?.message} />
      {send.isSuccess && (
        <p className="success" role="status">
          {messages.passwordSaved}
        </p>
      )}
      <Button type="submit" variant="default" loading={send.isPending}>
        {messages.savePassword}
      </Button>
    </form>
  );
}

function OwnSessions() {
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["sessions"],
    queryFn: ({ signal }) => call("GET /sessions", {}, { signal }),
  });
  const end = useMutation({
    mutationFn: (session: string) => call("POST /sessions/revoke/:session", { session }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions"] }),
  });
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
