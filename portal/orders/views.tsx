/**
 * Views of the list: usual ones, and those that the user has named, kept in this browser. A view is
 * the query of an address and nothing more, so that it can also be sent to a colleague.
 */
import { Button, CloseButton, Popover, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useMessages } from "../language/language.tsx";
import { Link } from "../shell/url.tsx";
import { readViews, type View, viewOf } from "./order-query.ts";

const storedAs = "portal-order-views";

export function Views({ query }: { readonly query: URLSearchParams }) {
  const messages = useMessages();
  const [own, setOwn] = useState(() => readViews(localStorage.getItem(storedAs)));
  const { statuses } = messages;
  const usual: readonly View[] = [
    { name: messages.allOrders, query: "" },
    { name: statuses.captured, query: "status=captured" },
    { name: statuses.held, query: "status=held" },
    { name: statuses.refunded, query: "status=refunded,partly_refunded" },
    { name: statuses.charged_back, query: "status=charged_back" },
    { name: statuses.in_doubt, query: "status=in_doubt" },
    { name: statuses.declined, query: "status=declined,filtered,error" },
  ];
  const current = viewOf(query);
  const isKnown = [...usual, ...own].some((view) => view.query === current);
  const keep = (views: readonly View[]) => {
    localStorage.setItem(storedAs, JSON.stringify(views));
    setOwn(views);
  };
  return (
    <nav className="views" aria-label={messages.views}>
      {usual.map((view) => (
        <ViewLink key={view.query} view={view} current={current} />
      ))}
      {own.map((view) => (
        <span className="own-view" key={view.query}>
          <ViewLink view={view} current={current} />
          <CloseButton
            size="xs"
            aria-label={messages.removeView(view.name)}
            onClick={() => keep(own.filter(({ query: each }) => each !== view.query))}
          />
        </span>
      ))}
      {!isKnown && <SaveView save={(name) => keep([...own, { name, query: current }])} />}
    </nav>
  );
}

function ViewLink({ view, current }: { readonly view: View; readonly current: string }) {
  const to = `orders${view.query === "" ? "" : `?${view.query}`}`;
  return (
    <Link to={to} className="view" isCurrent={view.query === current}>
      {view.name}
    </Link>
  );
}

function SaveView({ save }: { readonly save: (name: string) => void }) {
  const messages = useMessages();
  const [name, setName] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") save(name.trim());
  };
  return (
    <Popover position="bottom-start" trapFocus>
      <Popover.Target>
        <Button variant="subtle" size="compact-xs">
          {messages.saveView}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={messages.saveView}>
        <form className="choices" onSubmit={submit}>
          <TextInput
            size="xs"
            label={messages.nameOfView}
            maxLength={40}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Button type="submit">{messages.saveView}</Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
