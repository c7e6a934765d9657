/** The screen of the team: users with roles and sessions, and requests for approval. */
import { ActionIcon, Button, Menu } from "@mantine/core";
import { Fragment, useState } from "react";
import { Sessions } from "../account/sessions.tsx";
import { actionsFor, type Listed, roleName, signInBy, type UserAction } from "../account/users.ts";
import { ActionButton, ActionWindow } from "../actions/action-button.tsx";
import { usePerformer } from "../actions/performer.tsx";
import { Head, LoadedPart, Mark, Stamp, Tabs, Time } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { List } from "../design/list.tsx";
import { Nothing, Refusal } from "../design/states.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";

/** An administrator of a merchant can add users of that merchant only. */
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

function UserTable({ users }: { readonly users: readonly Listed[] }) {
  const messages = useMessages();
  const { isOperator } = useUser();
  return (
    <Table
      rows={users}
      keyOf={({ login }) => login}
      columns={[
        [messages.login, ({ login }) => <b>{login}</b>],
        [messages.fields.role, ({ role }) => roleName(messages, role)],
        isOperator && [messages.merchant, ({ merchant }) => merchant],
        [messages.signInBy, (user) => signInBy(user, messages)],
        [
          messages.lastSeen,
          ({ seenAt }) => (seenAt === undefined ? "–" : <Time at={seenAt} />),
          "quiet",
        ],
        [messages.state, (user) => <State user={user} />],
      ]}
      actions={(user) => <Tools user={user} />}
    />
  );
}

type UserProps = { readonly user: Listed };

function State({ user: { enabled, isIdle } }: UserProps) {
  const messages = useMessages();
  return (
    <>
      <Mark kind={enabled ? "approved" : "declined"}>
        {enabled ? messages.enabled : messages.disabled}
      </Mark>
      {enabled && isIdle && <div className="quiet">{messages.idle}</div>}
    </>
  );
}

function Tools({ user }: UserProps) {
  const { buttons, actionsFor: nameOf } = useMessages();
  const actions = actionsFor(user, useUser());
  const [asked, ask] = useState<UserAction>("user role");
  const [isOpen, setOpen] = useState(false);
  if (actions.length === 0) return null;
  const { login, role } = user;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={nameOf(login)}>
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions.map((action) => (
            <Fragment key={action}>
              {(action === "user disable" || action === "user enable") && <Menu.Divider />}
              <Menu.Item
                onClick={() => {
                  ask(action);
                  setOpen(true);
                }}
              >
                {buttons[action]}
              </Menu.Item>
            </Fragment>
          ))}
        </Menu.Dropdown>
      </Menu>
      <ActionWindow
        isOpen={isOpen}
        close={() => setOpen(false)}
        action={asked}
        name={login}
        values={{ login }}
        known={{ role }}
      />
    </>
  );
}

/** Users cannot approve their own requests. */
function Approvals() {
  const messages = useMessages();
  const found = useAnswer("GET /approvals", {});
  const give = usePerformer((id: string) =>
    call("POST /actions/run", { action: "approval give", values: { id } }),
  );
  return (
    <>
      <Refusal text={give.error?.message} />
      <List
        found={found}
        rowsOf={({ approvals }) => approvals}
        none={[messages.noApprovals, messages.approvalsHint]}
        keyOf={({ id }) => id}
        columns={[
          [messages.id, ({ id }) => id],
          [messages.operation, ({ work }) => <b>{work}</b>],
          [
            messages.askedBy,
            ({ askedBy, askedAt }) => <Stamp at={askedAt} by={askedBy} />,
            "quiet",
          ],
        ]}
        actions={({ id, work, isGiven, isOwn }) =>
          isGiven
            ? messages.given
            : !isOwn && (
                <Button aria-label={messages.giveFor(work)} onClick={() => give.mutate(id)}>
                  {messages.give}
                </Button>
              )
        }
      />
    </>
  );
}
