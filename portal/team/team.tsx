/** Who may use the portal: users with their roles, and where they are signed in. */
import { Button, Checkbox } from "@mantine/core";
import { useState } from "react";
import { Sessions } from "../account/sessions.tsx";
import { usePerformer } from "../actions/performer.tsx";
import { Head, LoadedPart, Tabs } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Nothing, Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { AddUser } from "./add-user.tsx";
import { Approvals } from "./approvals.tsx";
import { UserTable } from "./user-table.tsx";

export function Team() {
  const messages = useMessages();
  const [isAdding, setAdding] = useState(false);
  const add = () => setAdding(true);
  return (
    <div className="screen">
      <Head title={messages.team}>
        <Button leftSection={<Icon name="plus" size={14} />} onClick={add}>
          {messages.addUser}
        </Button>
      </Head>
      <Tabs
        path="team"
        label={messages.views}
        parameter="view"
        tabs={[
          ["users", messages.users, () => <Users add={add} />],
          ["sessions", messages.sessions, () => <TeamSessions />],
          ["approvals", messages.approvals, () => <Approvals />],
        ]}
      />
      {isAdding && <AddUser close={() => setAdding(false)} />}
    </div>
  );
}

function Users({ add }: { readonly add: () => void }) {
  const messages = useMessages();
  const { isOperator } = useUser();
  return (
    <LoadedPart query={useAnswer("GET /users", {})}>
      {({ users, isFactorDemanded }) => (
        <>
          <UserTable users={users} />
          {!isOperator && <DemandFactor isDemanded={isFactorDemanded} />}
          {users.length === 1 && (
            <Nothing title={messages.onlyYou} hint={messages.onlyYouHint}>
              <Button variant="default" onClick={add}>
                {messages.addUser}
              </Button>
            </Nothing>
          )}
        </>
      )}
    </LoadedPart>
  );
}

/** For a merchant's administrator: a second factor also of users who only look. */
function DemandFactor({ isDemanded }: { readonly isDemanded: boolean }) {
  const messages = useMessages();
  const demand = usePerformer(
    (demanded: boolean) => call("POST /users/demand-factor", { demanded }),
    { changes: "account" },
  );
  return (
    <>
      <Refusal text={demand.error?.message} />
      <Checkbox
        label={messages.demandFactor}
        description={messages.demandFactorHint}
        checked={isDemanded}
        disabled={demand.isPending}
        onChange={({ currentTarget }) => demand.mutate(currentTarget.checked)}
      />
    </>
  );
}

function TeamSessions() {
  const found = useAnswer("GET /users/sessions", {});
  const end = usePerformer(({ login, id }: { readonly login: string; readonly id: string }) =>
    call("POST /users/end-session/:login/:session", { login, session: id }),
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
