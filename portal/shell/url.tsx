/** The URL is a screen's only state: screen and item, filters, page and selected row. */
import { type MouseEvent, type ReactNode, useMemo, useSyncExternalStore } from "react";
import { type Address, changeAddress, type QueryChange, readAddress, root } from "./address.ts";

const moved = "portal-moved";

export function useAddress(): Address {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  return useMemo(() => readAddress(address), [address]);
}

function subscribe(changed: () => void): () => void {
  addEventListener("popstate", changed);
  addEventListener(moved, changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener(moved, changed);
  };
}

/** The browser's back button returns to the previous path, unless `replaces` is set. */
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

/** A click does not load the page again. The link can be opened in a new tab. */
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
