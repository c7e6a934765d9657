/**
 * The address is the state of a screen: which one, which item, and in its query the filters, the
 * page and the selected row. Screens read it with `usePlace` and change it with `go` and
 * `changeQuery`; nothing else is kept about where the user is.
 */
import { type MouseEvent, type ReactNode, useMemo, useSyncExternalStore } from "react";
import { changeAddress, type Place, type QueryChange, readPlace, root } from "./place.ts";

const moved = "portal-moved";

export function usePlace(): Place {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  return useMemo(() => readPlace(address), [address]);
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

export function changeQuery(change: QueryChange, options?: { readonly replaces?: boolean }): void {
  go(changeAddress(location, change), options);
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
