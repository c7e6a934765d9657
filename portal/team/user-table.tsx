/** Users as a table, with what can be done to each; nothing to oneself. */
import { ActionIcon, Menu } from "@mantine/core";
import { Fragment, useState } from "react";
import { roleName, signInBy } from "../account/users.ts";
import { Time } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useUser } from "../shell/session.ts";
import { actionLabels, actionsFor, type Listed, type UserActionName } from "./roles.ts";
import { UserAction } from "./user-action.tsx";

export function UserTable({ users }: { readonly users: readonly Listed[] }) {
  const messages = useMessages();
  const own = useUser();
  const [asked, setAsked] = useState<{ user: Listed; action: UserActionName }>();
  return (
    <>
      <Table
        className="listing"
        rows={users}
        keyOf={({ login }) => login}
        columns={[
          [messages.login, ({ login }) => <b>{login}</b>],
          [messages.role, ({ role }) => roleName(messages, role)],
          own.isOperator && [messages.merchant, ({ merchant }) => merchant, "minor"],
          [messages.signInBy, (user) => signInBy(user, messages), "minor"],
          [
            messages.lastSeen,
            ({ seenAt }) => (seenAt === undefined ? messages.never : <Time at={seenAt} />),
            "minor quiet",
          ],
          [messages.state, (user) => <State user={user} />],
        ]}
        actions={(user) => (
          <Tools
            user={user}
            actions={actionsFor(user, own)}
            ask={(action) => setAsked({ user, action })}
          />
        )}
      />
      {asked && <UserAction {...asked} close={() => setAsked(undefined)} />}
    </>
  );
}

function State({ user: { enabled, isIdle } }: { readonly user: Listed }) {
  const messages = useMessages();
  return (
    <>
      <span className="status" data-status={enabled ? "approved" : "declined"}>
        {enabled ? messages.enabled : messages.disabled}
      </span>
      {enabled && isIdle && <div className="quiet">{messages.idle}</div>}
    </>
  );
}

type ToolsProps = {
  readonly user: Listed;
  readonly actions: readonly UserActionName[];
  readonly ask: (action: UserActionName) => void;
};

function Tools({ user, actions, ask }: ToolsProps) {
  const messages = useMessages();
  const labels = actionLabels(messages);
  if (actions.length === 0) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={messages.actionsFor(user.login)}>
          <Icon name="dots" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((action) => (
          <Fragment key={action}>
            {(action === "disable" || action === "enable") && <Menu.Divider />}
            <Menu.Item onClick={() => ask(action)}>{labels[action]}</Menu.Item>
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
