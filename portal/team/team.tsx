/** Who may use the portal: users with their roles, and where they are signed in. */
import { Button, Checkbox, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Sessions } from "../account/sessions.tsx";
import { usePerformer } from "../actions/performer.tsx";
import { Icon } from "../design/icons.tsx";
import { Failed, Nothing, Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, type User } from "../shell/call.ts";
import { Link, usePlace } from "../shell/url.tsx";
import { AddUser } from "./add-user.tsx";
import { Approvals } from "./approvals.tsx";
import { UserTable } from "./user-table.tsx";

export function Team({ user }: { readonly user: User }) {
  const messages = useMessages();
  const [isAdding, setAdding] = useState(false);
  const view = usePlace().query.get("view");
  const isUsers = view !== "sessions" && view !== "approvals";
  return (
    <div className="screen">
      <div className="heading">
        <h1>{messages.team}</h1>
        <div className="space" />
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setAdding(true)}>
          {messages.addUser}
        </Button>
      </div>
      <nav className="views" aria-label={messages.views}>
        <Link to="team" className="view" isCurrent={isUsers}>
          {messages.users}
        </Link>
        <Link to="team?view=sessions" className="view" isCurrent={view === "sessions"}>
          {messages.sessions}
        </Link>
        <Link to="team?view=approvals" className="view" isCurrent={view === "approvals"}>
          {messages.approvals}
        </Link>
      </nav>
      {isUsers && <Users user={user} add={() => setAdding(true)} />}
      {view === "sessions" && <TeamSessions />}
      {view === "approvals" && <Approvals />}
      {isAdding && <AddUser user={user} close={() => setAdding(false)} />}
    </div>
  );
}

function Users({ user, add }: { readonly user: User; readonly add: () => void }) {
  const messages = useMessages();
  const found = useQuery({
    queryKey: ["users"],
    queryFn: ({ signal }) => call("GET /users", {}, { signal }),
  });
  if (found.error !== null) {
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  }
  if (found.data === undefined) return <Skeleton height={200} />;
  return (
    <>
      <UserTable users={found.data.users} own={user} />
      {user.merchant !== undefined && <DemandFactor isDemanded={found.data.isFactorDemanded} />}
      {found.data.users.length === 1 && (
        <Nothing title={messages.onlyYou} hint={messages.onlyYouHint}>
          <Button variant="default" onClick={add}>
            {messages.addUser}
          </Button>
        </Nothing>
      )}
    </>
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
  const found = useQuery({
    queryKey: ["team-sessions"],
    queryFn: ({ signal }) => call("GET /users/sessions", {}, { signal }),
  });
  const end = usePerformer(({ login, id }: { readonly login: string; readonly id: string }) =>
    call("POST /users/end-session/:login/:session", { login, session: id }),
  );
  if (found.error !== null) {
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  }
  if (found.data === undefined) return <Skeleton height={200} />;
  return (
    <>
      <Refusal text={end.error?.message} />
      <Sessions sessions={found.data.sessions} end={(session) => end.mutate(session)} />
    </>
  );
}
