/** Users as a table, with what can be done to each; nothing to oneself. */
import { ActionIcon, Menu } from "@mantine/core";
import { Fragment, useState } from "react";
import { roleName, signInBy } from "../account/users.ts";
import { Time } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { TableHead } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import type { User } from "../shell/call.ts";
import { actionLabels, actionsFor, type Listed, type UserActionName } from "./roles.ts";
import { UserAction } from "./user-action.tsx";

type UserTableProps = { readonly users: readonly Listed[]; readonly own: User };

export function UserTable({ users, own }: UserTableProps) {
  const messages = useMessages();
  const [asked, setAsked] = useState<{ user: Listed; action: UserActionName }>();
  return (
    <>
      <table className="listing">
        <TableHead
          columns={[
            messages.login,
            messages.role,
            own.merchant === undefined && [messages.merchant, "minor"],
            [messages.signInBy, "minor"],
            [messages.lastSeen, "minor"],
            messages.state,
          ]}
          actions={messages.action}
        />
        <tbody>
          {users.map((user) => (
            <UserRow
              key={user.login}
              user={user}
              own={own}
              ask={(action) => setAsked({ user, action })}
            />
          ))}
        </tbody>
      </table>
      {asked && <UserAction {...asked} own={own} close={() => setAsked(undefined)} />}
    </>
  );
}

type UserRowProps = {
  readonly user: Listed;
  readonly own: User;
  readonly ask: (action: UserActionName) => void;
};

function UserRow({ user, own, ask }: UserRowProps) {
  const messages = useMessages();
  const actions = actionsFor(user, own);
  return (
    <tr>
      <td>
        <b>{user.login}</b>
      </td>
      <td>{roleName(messages, user.role)}</td>
      {own.merchant === undefined && <td className="minor">{user.merchant}</td>}
      <td className="minor">{signInBy(user, messages)}</td>
      <td className="minor quiet">
        {user.seenAt === undefined ? messages.never : <Time at={user.seenAt} />}
      </td>
      <td>
        <span className="status" data-status={user.enabled ? "approved" : "declined"}>
          {user.enabled ? messages.enabled : messages.disabled}
        </span>
        {user.enabled && user.isIdle && <div className="quiet">{messages.idle}</div>}
      </td>
      <td className="tools">
        {actions.length > 0 && <Tools user={user} actions={actions} ask={ask} />}
      </td>
    </tr>
  );
}

type ToolsProps = Omit<UserRowProps, "own"> & { readonly actions: readonly UserActionName[] };

function Tools({ user, actions, ask }: ToolsProps) {
  const messages = useMessages();
  const labels = actionLabels(messages);
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
