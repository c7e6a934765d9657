/** The screen of the user's own account: the password, the second factors and the sessions. */
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { Head, LoadedPart } from "../design/details.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { useSession, useUser } from "../shell/session.ts";
import { usePasswordChange } from "../sign-in/step.tsx";
import { Authenticator } from "./authenticator.tsx";
import { Panel } from "./panel.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Sessions } from "./sessions.tsx";
import { roleName } from "./users.ts";

export function Account() {
  const messages = useMessages();
  const { login, role } = useUser();
  const { factors = { totp: false, passkeys: 0, recoveryCodes: 0 } } = useSession().data ?? {};
  return (
    <div className="screen stack account">
      <Head
        title={messages.account}
        state={
          <span className="note">
            {login} · {roleName(messages, role)}
          </span>
        }
      />
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
  const { send, fields } = usePasswordChange({});
  return (
    <PerformerForm performer={send} label={messages.savePassword} variant="default">
      {fields}
      {send.isSuccess && (
        <p className="success" role="status">
          {messages.passwordSaved}
        </p>
      )}
    </PerformerForm>
  );
}

function OwnSessions() {
  const found = useAnswer("GET /sessions", {});
  const end = usePerformer((session: string) =>
    call("POST /sessions/revoke/:session", { session }),
  );
  return (
    <>
      <Refusal text={end.error?.message} />
      <LoadedPart query={found}>
        {({ sessions }) => <Sessions sessions={sessions} end={({ id }) => end.mutate(id)} />}
      </LoadedPart>
    </>
  );
}
