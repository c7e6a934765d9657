/** Users as a table, with what can be done to each; nothing to oneself. */
import { ActionIcon, Menu } from "@mantine/core";
import { useState } from "react";
import { roleName } from "../account/panel.tsx";
import { Icon } from "../design/icons.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import type { User } from "../shell/call.ts";
import type { Listed } from "./role-fields.tsx";
import { UserAction, type UserActionName } from "./user-action.tsx";

type UserTableProps = { readonly users: readonly Listed[]; readonly own: User };

export function UserTable({ users, own }: UserTableProps) {
  const messages = useMessages();
  const [asked, setAsked] = useState<{ user: Listed; action: UserActionName }>();
  return (
    <>
      <table className="listing">
        <thead>
          <tr>
            <th>{messages.login}</th>
            <th>{messages.role}</th>
            {own.merchant === undefined && <th className="minor">{messages.merchant}</th>}
            <th className="minor">{messages.signInBy}</th>
            <th className="minor">{messages.lastSeen}</th>
            <th>{messages.state}</th>
            <th aria-label={messages.action} />
          </tr>
        </thead>
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
  const { messages, showTime } = useLanguage();
  const { password, totp, passkeys } = user;
  const factors = [
    messages.passwords[password],
    ...(totp ? [messages.withApp] : []),
    ...(passkeys > 0 ? [messages.withPasskeys(passkeys)] : []),
  ];
  return (
    <tr>
      <td>
        <b>{user.login}</b>
      </td>
      <td>{roleName(messages, user.role)}</td>
      {own.merchant === undefined && <td className="minor">{user.merchant}</td>}
      <td className="minor">{factors.join(" + ")}</td>
      <td className="minor quiet">
        {user.seenAt === undefined ? messages.never : showTime(user.seenAt)}
      </td>
      <td>
        <span className="status" data-status={user.enabled ? "approved" : "declined"}>
          {user.enabled ? messages.enabled : messages.disabled}
        </span>
      </td>
      <td className="tools">{user.login !== own.login && <Tools user={user} ask={ask} />}</td>
    </tr>
  );
}

function Tools({ user, ask }: Omit<UserRowProps, "own">) {
  const messages = useMessages();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={messages.actionsFor(user.login)}>
          <Icon name="dots" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => ask("role")}>{messages.changeRole}</Menu.Item>
        <Menu.Item onClick={() => ask("password")}>{messages.temporaryPassword}</Menu.Item>
        <Menu.Item onClick={() => ask("factors")}>{messages.resetFactors}</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => ask(user.enabled ? "disable" : "enable")}>
          {user.enabled ? messages.disable : messages.enable}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
