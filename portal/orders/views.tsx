/**
 * Saved views of the order list: the search and the filters in a URL. Some are built in, some are
 * shared by the user's team, and the user's own are stored in this browser.
 */
import { Button, Checkbox, CloseButton, Popover, TextInput } from "@mantine/core";
import { useState } from "react";
import { usePerformer } from "../actions/performer.tsx";
import { Icon } from "../design/icons.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { useUser } from "../shell/session.ts";
import { Link, useAddress } from "../shell/url.tsx";
import { mayBeShared, readViews, type View, viewOf } from "./order-query.ts";

const storedAs = "portal-order-views";

export function Views() {
  const messages = useMessages();
  const user = useUser();
  const { query } = useAddress();
  const { shared, share, remove } = useShared();
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
  const isKnown = [...usual, ...shared, ...own].some((view) => view.query === current);
  const keep = (views: readonly View[]) => {
    localStorage.setItem(storedAs, JSON.stringify(views));
    setOwn(views);
  };
  return (
    <nav className="line views" aria-label={messages.views}>
      {usual.map((view) => (
        <ViewLink key={view.query} view={view} current={current} />
      ))}
      {shared.map((view) => (
        <span className="line" key={view.view}>
          <ViewLink view={view} current={current} hint={messages.sharedBy(view.sharedBy)} />
          {user.may("share_views") && (
            <CloseButton
              size="sm"
              aria-label={messages.unshareView(view.name)}
              onClick={() => remove.mutate(view.view)}
            />
          )}
        </span>
      ))}
      {own.map((view) => (
        <span className="line" key={view.query}>
          <ViewLink view={view} current={current} />
          <CloseButton
            size="sm"
            aria-label={messages.removeView(view.name)}
            onClick={() => keep(own.filter(({ query: each }) => each !== view.query))}
          />
        </span>
      ))}
      {!isKnown && (
        <SaveView
          mayShare={mayBeShared(current, user)}
          save={(name, isShared) => {
            const view = { name, query: current };
            if (isShared) share.mutate(view);
            else keep([...own, view]);
          }}
        />
      )}
      <Refusal text={share.error?.message ?? remove.error?.message} />
    </nav>
  );
}

function useShared() {
  const { data } = useAnswer("GET /views", {}, { staleMs: 60_000 });
  const share = usePerformer((view: View) => call("POST /views/share", view));
  const remove = usePerformer((view: string) => call("POST /views/remove/:view", { view }));
  return { shared: data?.views ?? [], share, remove };
}

type ViewLinkProps = { readonly view: View; readonly current: string; readonly hint?: string };

/** The hint names the user who shares the view. */
function ViewLink({ view, current, hint }: ViewLinkProps) {
  const to = `orders${view.query === "" ? "" : `?${view.query}`}`;
  return (
    <Link to={to} className="view" isCurrent={view.query === current}>
      {hint !== undefined && (
        <span role="img" aria-label={hint} title={hint}>
          <Icon name="team" size={14} />
        </span>
      )}
      {view.name}
    </Link>
  );
}

type SaveProps = {
  readonly mayShare: boolean;
  readonly save: (name: string, isShared: boolean) => void;
};

function SaveView({ mayShare, save }: SaveProps) {
  const messages = useMessages();
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const submit = submitting(() => {
    if (name.trim() !== "") save(name.trim(), isShared && mayShare);
  });
  return (
    <Popover position="bottom-start" trapFocus>
      <Popover.Target>
        <Button variant="subtle" size="compact-sm">
          {messages.saveView}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={messages.saveView}>
        <form className="stack choices" onSubmit={submit}>
          <TextInput
            size="xs"
            label={messages.nameOfView}
            maxLength={40}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Checkbox
            size="xs"
            label={messages.shareView}
            description={messages.shareViewHint}
            disabled={!mayShare}
            checked={isShared && mayShare}
            onChange={({ currentTarget }) => setShared(currentTarget.checked)}
          />
          <Button type="submit">{messages.saveView}</Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
