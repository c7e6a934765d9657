/**
 * Which screen is shown: the steps of signing in until the session is whole, then the one that the
 * address names. Each screen is loaded when it is first visited.
 */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentType, type LazyExoticComponent, lazy, Suspense, useEffect } from "react";
import { Failed, Nothing, ScreenSkeleton } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, type Session, type User } from "./call.ts";
import { go, usePlace } from "./url.tsx";

/** Asked for together with the session, which tells which of both is needed. */
const loadLayout = () => import("./layout.tsx");
const Layout = lazy(async () => ({ default: (await loadLayout()).Layout }));
const SignIn = lazy(async () => ({ default: (await import("../sign-in/sign-in.tsx")).SignIn }));

type Screen = LazyExoticComponent<ComponentType<{ readonly user: User }>>;

const screens: Readonly<Record<string, Screen>> = {
  home: lazy(async () => ({ default: (await import("../home/home.tsx")).Home })),
  orders: lazy(async () => ({ default: (await import("../orders/orders.tsx")).Orders })),
  callbacks: lazy(async () => ({
    default: (await import("../callbacks/callbacks.tsx")).Callbacks,
  })),
  requests: lazy(async () => ({ default: (await import("../requests/requests.tsx")).Requests })),
  checksum: lazy(async () => ({ default: (await import("../requests/checksum.tsx")).Checksum })),
  team: lazy(async () => ({ default: (await import("../team/team.tsx")).Team })),
  audit: lazy(async () => ({ default: (await import("../audit/audit.tsx")).Audit })),
  sandbox: lazy(async () => ({ default: (await import("../sandbox/sandbox.tsx")).Sandbox })),
  account: lazy(async () => ({ default: (await import("../account/account.tsx")).Account })),
  "payment-links": lazy(async () => ({ default: (await import("../links/links.tsx")).Links })),
  merchants: lazy(async () => ({
    default: (await import("../merchants/merchants.tsx")).Merchants,
  })),
  gates: lazy(async () => ({ default: (await import("../gates/gates.tsx")).Gates })),
  "vault-keys": lazy(async () => ({ default: (await import("../keys/keys.tsx")).Keys })),
  screening: lazy(async () => ({
    default: (await import("../screening/screening.tsx")).Screening,
  })),
  reconciliation: lazy(async () => ({
    default: (await import("../reconciliation/reconciliation.tsx")).Reconciliation,
  })),
};
/** Of one item, whose id follows the screen in the address. */
const items: typeof screens = {
  orders: lazy(async () => ({ default: (await import("../order/order.tsx")).Order })),
  callbacks: lazy(async () => ({ default: (await import("../callbacks/callback.tsx")).Callback })),
  requests: lazy(async () => ({ default: (await import("../requests/request.tsx")).Request })),
  "payment-links": lazy(async () => ({ default: (await import("../links/link.tsx")).PaymentLink })),
  merchants: lazy(async () => ({ default: (await import("../merchants/merchant.tsx")).Merchant })),
  endpoints: lazy(async () => ({ default: (await import("../merchants/endpoint.tsx")).Endpoint })),
  gates: lazy(async () => ({ default: (await import("../gates/gate.tsx")).Gate })),
  reconciliation: lazy(async () => ({
    default: (await import("../reconciliation/day.tsx")).ReconciledDay,
  })),
};
const firstScreen = "orders";

export function App() {
  const queries = useQueryClient();
  const session = useQuery({
    queryKey: ["session"],
    queryFn: ({ signal }) => call("GET /session", {}, { signal, isPoll: true }),
    // The session may have timed out meanwhile: nothing of it stays on the screen.
    refetchInterval: 60_000,
  });
  useEffect(() => void loadLayout(), []);
  const { screen, item } = usePlace();
  const state = session.data?.state;
  useEffect(() => {
    if (state === "in" && screen === "") go(firstScreen, { replaces: true });
    if (state === "out")
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  }, [state, screen, queries]);

  if (session.data === undefined) {
    if (session.error === null) return <ScreenSkeleton />;
    return <Failed error={session.error} retry={() => void session.refetch()} />;
  }
  const { user } = session.data;
  const accept = (next: Session) => queries.setQueryData(["session"], next);
  const isIn = state === "in" && user !== undefined;
  return (
    <Suspense fallback={isIn ? <ScreenSkeleton /> : null}>
      {isIn ? (
        <Layout session={session.data} user={user} screen={screen || firstScreen}>
          <Suspense fallback={<ScreenSkeleton />}>
            <Chosen
              table={item === "" ? screens : items}
              screen={screen || firstScreen}
              user={user}
            />
          </Suspense>
        </Layout>
      ) : (
        <SignIn session={session.data} accept={accept} />
      )}
    </Suspense>
  );
}

type ChosenProps = {
  readonly table: typeof screens;
  readonly screen: string;
  readonly user: User;
};

function Chosen({ table, screen, user }: ChosenProps) {
  const messages = useMessages();
  const Found = Object.hasOwn(table, screen) ? table[screen] : undefined;
  if (Found !== undefined) return <Found user={user} />;
  return (
    <Nothing title={messages.noSuchPage} hint={messages.noSuchPageHint}>
      <Button onClick={() => go(firstScreen)}>{messages.toOrders}</Button>
    </Nothing>
  );
}
