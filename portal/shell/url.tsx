/**
 * The address is the state of a screen: which one, which item, and in its query the filters, the
 * page and the selected row. Screens read it with `usePlace` and change it with `go` and
 * `changeQuery`; nothing else is kept about where the user is.
 */
import { type MouseEvent, type ReactNode, useMemo, useSyncExternalStore } from "react";

const root = "/portal/";
const moved = "portal-moved";

export type Place = {
  readonly screen: string;
  readonly item: string;
  readonly query: URLSearchParams;
};

export function usePlace(): Place {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  return useMemo(() => {
    const { pathname, searchParams } = new URL(address, location.origin);
    const [screen = "", item = ""] = pathname.replace(/^\/portal\/?/, "").split("/");
    return { screen, item: decodeURIComponent(item), query: searchParams };
  }, [address]);
}

function subscribe(changed: () => void): () => void {
  addEventListener("popstate", changed);
  addEventListener(moved, changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener(moved, changed);
  };
}

/** A step that `Back` undoes, unless it replaces the one before. */
export function go(path: string, { replaces = false } = {}): void {
  const address = `${root}${path}`;
  if (replaces) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  dispatchEvent(new Event(moved));
}

export type QueryChange = Readonly<Record<string, string | undefined>>;

/** Leaves what is not named as it is; an empty value removes the name. */
export function changeQuery(change: QueryChange, options?: { readonly replaces?: boolean }): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value = ""] of Object.entries(change)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString().replaceAll("%2C", ",");
  go(location.pathname.slice(root.length) + (text && `?${text}`), options);
}

type LinkProps = {
  readonly to: string;
  readonly className?: string | undefined;
  readonly isCurrent?: boolean;
  readonly onFollow?: () => void;
  readonly children: ReactNode;
};

/** A real link: it opens in a new tab as any other, and is followed without loading the page. */
export function Link({ to, className, isCurrent = false, onFollow, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    onFollow?.();
    go(to);
  };
  return (
    <a
      href={root + to}
      className={className}
      onClick={follow}
      {...(isCurrent && { "aria-current": "page" })}
    >
      {children}
    </a>
  );
}
