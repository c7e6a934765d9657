/** A table of users with the actions on each. */
import { ActionIcon, Menu } from "@mantine/core";
import { Fragment, useState } from "react";
import { actionsFor, type Listed, roleName, signInBy, type UserAction } from "../account/users.ts";
import { ActionWindow } from "../actions/action-button.tsx";
import { Mark, Time } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useUser } from "../shell/session.ts";

export function UserTable({ users }: { readonly users: readonly Listed[] }) {
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
