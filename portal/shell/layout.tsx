/**
 * The frame around every screen: the menu of screens, the name of the environment, and the user's
 * own menu. On a phone, the frame is a bar at the top and a menu at the bottom.
 */
import { Menu, UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import { Icon, Logo } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import type { Session, User } from "./call.ts";
import { entriesFor } from "./entries.ts";
import { commandKey, Palette, useOwnChoices, usePalette } from "./palette.tsx";
import { Link } from "./url.tsx";

type LayoutProps = {
  readonly session: Session;
  readonly user: User;
  readonly screen: string;
  readonly children: ReactNode;
};

export function Layout({ session, user, screen, children }: LayoutProps) {
  const messages = useMessages();
  const palette = usePalette();
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {messages.skipToContent}
      </a>
      <header className="side">
        <div className="brand">
          <Logo />
          <span>Tollgate</span>
          <span className="environment" data-environment={session.environment}>
            {messages[session.environment]}
          </span>
        </div>
        <button type="button" className="go-to" onClick={() => palette.open("go")}>
          <Icon name="search" size={14} />
          {messages.goTo}
          <kbd>{commandKey}</kbd>
        </button>
        <nav aria-label={messages.menu}>
          {entriesFor(session).map((entry) => (
            <Link
              key={entry.screen}
              to={entry.screen}
              className="entry"
              isCurrent={entry.screen === screen}
            >
              <Icon name={entry.icon} />
              {messages[entry.screen]}
            </Link>
          ))}
          <button type="button" className="entry more" onClick={() => palette.open("go")}>
            <Icon name="dots" />
            {messages.more}
          </button>
        </nav>
        <UserMenu user={user} showKeys={() => palette.open("keys")} />
      </header>
      <Palette shown={palette.shown} close={palette.close} session={session} />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

type UserMenuProps = { readonly user: User; readonly showKeys: () => void };

function UserMenu({ user, showKeys }: UserMenuProps) {
  const messages = useMessages();
  return (
    <Menu position="top-start">
      <Menu.Target>
        <UnstyledButton className="user">
          <Icon name="user" />
          <span className="user-name">
            {user.login}
            <small>{user.merchant ?? messages.operator}</small>
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Icon name="keyboard" />} onClick={showKeys}>
          {messages.keyboard}
        </Menu.Item>
        {useOwnChoices().map(({ name, icon, run, isChosen = false }) => (
          <Menu.Item
            key={name}
            leftSection={<Icon name={icon} />}
            rightSection={isChosen ? "✓" : undefined}
            onClick={run}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
