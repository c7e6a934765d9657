/**
 * The command palette: a dialog in which the user types a few letters to open a screen or an order,
 * or to run a command. Ctrl or Command with K opens it. The key `?` opens a list of shortcuts.
 */
import { Modal, useMantineColorScheme } from "@mantine/core";
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useState } from "react";
import { Fields } from "../design/details.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Icon, type IconName } from "../design/icons.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import type { Session } from "./call.ts";
import { choiceBeside, entriesFor, findChoices } from "./entries.ts";
import { useKeys } from "./keys.ts";
import { useSignOut } from "./session.ts";
import { go } from "./url.tsx";

type Shown = "go" | "keys" | undefined;

export const commandKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘ K" : "Ctrl K";

export function usePalette() {
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setShown((before) => (before === "go" ? undefined : "go"));
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useKeys([["?", () => setShown("keys")]]);
  return { shown, open: setShown, close: () => setShown(undefined) };
}

type PaletteProps = {
  readonly shown: Shown;
  readonly close: () => void;
  readonly session: Session;
};

export function Palette({ shown, close, session }: PaletteProps) {
  const messages = useMessages();
  if (shown === "keys") return <Keys close={close} />;
  if (shown === undefined) return null;
  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      padding={0}
      yOffset="12vh"
      size={560}
      aria-label={messages.goTo}
    >
      <Choices session={session} close={close} />
    </Modal>
  );
}

type Choice = {
  readonly name: string;
  readonly icon: IconName;
  readonly run: () => void;
  readonly isChosen?: boolean;
};

function Choices({ session, close }: Omit<PaletteProps, "shown">) {
  const messages = useMessages();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const choices = useChoices(session, text.trim());
  const chosen = Math.min(at, choices.length - 1);
  const run = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    close();
    choice.run();
  };
  const press = (event: ReactKeyboardEvent) => {
    const next = choiceBeside(chosen, event.key, choices.length);
    if (next !== undefined) setAt(next);
    else if (event.key === "Enter") run(choices[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <div className="palette">
      <input
        // biome-ignore lint/a11y/noAutofocus: the window is opened to write in it
        autoFocus
        data-autofocus
        role="combobox"
        aria-label={messages.goTo}
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={choices.length === 0 ? undefined : `choice-${chosen}`}
        placeholder={messages.goTo}
        value={text}
        onKeyDown={press}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
      />
      {choices.length === 0 && <p className="quiet">{messages.nothingToGoTo}</p>}
      <div id="choices" role="listbox" aria-label={messages.goTo}>
        {choices.map((choice, index) => (
          <div
            key={choice.name}
            id={`choice-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onMouseMove={() => setAt(index)}
            onClick={() => run(choice)}
            onKeyDown={press}
          >
            <Icon name={choice.icon} />
            {choice.name}
          </div>
        ))}
      </div>
    </div>
  );
}

function useChoices(session: Session, text: string): readonly Choice[] {
  const messages = useMessages();
  const screens = entriesFor(session).map(({ screen, icon }) => ({
    name: messages[screen],
    icon,
    run: () => go(screen),
  }));
  const query = new URLSearchParams({ search: text });
  return findChoices([...screens, ...useOwnChoices()], text, [
    { name: messages.openOrder(text), icon: "orders", run: () => go(`orders/${text}`) },
    { name: messages.searchOrdersFor(text), icon: "search", run: () => go(`orders?${query}`) },
  ]);
}

const appearances = [
  { scheme: "light", icon: "sun", name: "light" },
  { scheme: "dark", icon: "moon", name: "dark" },
  { scheme: "auto", icon: "screen", name: "asSystem" },
] as const;

export function useOwnChoices(): readonly Choice[] {
  const { code, change, messages } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const changeLanguage = () => change(code === "en" ? "de" : "en");
  return [
    { name: messages.account, icon: "key", run: () => go("account") },
    ...appearances.map(({ scheme, icon, name }) => ({
      name: messages[name],
      icon,
      isChosen: colorScheme === scheme,
      run: () => setColorScheme(scheme),
    })),
    { name: messages.otherLanguage, icon: "language", run: changeLanguage },
    { name: messages.signOut, icon: "leave", run: () => void signOut() },
  ];
}

function Keys({ close }: { readonly close: () => void }) {
  const messages = useMessages();
  return (
    <Dialog title={messages.keyboard} close={close}>
      <Fields
        className="keys"
        rows={Object.entries(messages.shortcuts).map(([key, meaning]) => [
          meaning,
          <kbd key={key}>{key === "Ctrl K" ? commandKey : key}</kbd>,
        ])}
      />
    </Dialog>
  );
}
