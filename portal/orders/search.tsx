/**
 * The search field. Shortly after the last key press, the text is written to the URL and the list
 * changes. The browser's back button restores the earlier search.
 */
import { ActionIcon, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import { leaveField, useKeys } from "../shell/keys.ts";
import { changeQuery, useAddress } from "../shell/url.tsx";

const afterMs = 180;

export function Search({ label }: { readonly label: string }) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  useKeys([["/", () => field.current?.focus()]]);
  const searched = useAddress().query.get("search") ?? "";
  const [written, setWritten] = useState(searched);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(searched);
  useEffect(() => {
    if (sent.current !== searched) setWritten(searched);
    sent.current = searched;
  }, [searched]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const search = (text: string) => {
    clearTimeout(timer.current);
    sent.current = text.trim();
    changeQuery({ search: text.trim(), after: undefined, row: undefined }, { replaces: true });
  };
  const write = (text: string) => {
    setWritten(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(text), afterMs);
  };
  const clear = () => {
    setWritten("");
    search("");
  };
  const press = (key: string) => {
    if (key === "Enter") search(written);
    if (key === "Escape" && written === "") leaveField();
    else if (key === "Escape") clear();
  };
  return (
    <TextInput
      ref={field}
      type="text"
      role="searchbox"
      aria-label={label}
      placeholder={label}
      autoComplete="off"
      spellCheck={false}
      maxLength={128}
      leftSection={<Icon name="search" />}
      rightSection={
        written === "" ? (
          <kbd>/</kbd>
        ) : (
          <ActionIcon aria-label={messages.clearSearch} onClick={clear}>
            <Icon name="close" size={14} />
          </ActionIcon>
        )
      }
      value={written}
      onChange={({ currentTarget }) => write(currentTarget.value)}
      onKeyDown={({ key }) => press(key)}
    />
  );
}
