/**
 * The search: the address changes while the user types, a moment after the last key, and the list
 * with it. A step back in the browser's history brings an earlier search back into the field.
 */
import { ActionIcon, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import { leaveField } from "../shell/keys.ts";
import { changeQuery } from "../shell/url.tsx";

export const searchField = "order-search";
const afterMs = 180;

type SearchProps = { readonly query: URLSearchParams; readonly label?: string };

export function Search({ query, label }: SearchProps) {
  const messages = useMessages();
  const asked = label ?? messages.searchOrders;
  const searched = query.get("search") ?? "";
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
      id={searchField}
      type="text"
      role="searchbox"
      aria-label={asked}
      placeholder={asked}
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
