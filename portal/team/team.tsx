/** The users of the portal with their roles, and their sessions. */
import { Sessions } from "../account/sessions.tsx";
import { ActionButton } from "../actions/action-button.tsx";
import { usePerformer } from "../actions/performer.tsx";
import { Head, LoadedPart, Tabs } from "../design/details.tsx";
import { Nothing, Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { Approvals } from "./approvals.tsx";
import { UserTable } from "./user-table.tsx";

/** A merchant's administrator adds users of that merchant. */
export function Team() {
  const messages = useMessages();
  const { merchant } = useUser();
  return (
    <div className="screen stack">
      <Head title={messages.team}>
        <ActionButton
          action="user add"
          isMain
          values={merchant === undefined ? {} : { merchant }}
        />
      </Head>
      <Tabs
        path="team"
        label={messages.views}
        parameter="view"
        tabs={[
          ["users", messages.users, () => <Users />],
          ["sessions", messages.sessions, () => <TeamSessions />],
          ["approvals", messages.approvals, () => <Approvals />],
        ]}
      />
    </div>
  );
}

function Users() {
  const messages = useMessages();
  const { merchant } = useUser();
  return (
    <LoadedPart query={useAnswer("GET /users", {})}>
      {({ users, isFactorDemanded }) => (
        <>
          <UserTable users={users} />
          {merchant !== undefined && (
            <div className="row-actions start">
              <ActionButton
                action="user demand-factor"
                values={{ merchant }}
                known={{ demanded: isFactorDemanded ? "on" : "off" }}
              />
            </div>
          )}
          {users.length === 1 && <Nothing title={messages.onlyYou} hint={messages.onlyYouHint} />}
        </>
      )}
    </LoadedPart>
  );
}

function TeamSessions() {
  const found = useAnswer("GET /users/sessions", {});
  const end = usePerformer(({ login, id }: { readonly login: string; readonly id: string }) =>
    call("POST /actions/run", { action: "user end-session", values: { login, session: id } }),
  );
  return (
    <>
      <Refusal text={end.error?.message} />
      <LoadedPart query={found}>
        {({ sessions }) => <Sessions sessions={sessions} end={(session) => end.mutate(session)} />}
      </LoadedPart>
    </>
  );
}
