/**
 * Chooses what the portal shows: the steps of signing in until the session is complete, and then
 * the screen that the address names. The code of a screen is loaded when the user first visits the
 * screen.
 */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ComponentType, lazy, Suspense, useEffect } from "react";
import { Failed, Nothing, ScreenSkeleton } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { sessionKey, useSession } from "./session.ts";
import { go, useAddress } from "./url.tsx";

/** Loaded while the session is still being read, because most users are signed in already. */
const loadLayout = () => import("./layout.tsx");
const Layout = lazy(async () => ({ default: (await loadLayout()).Layout }));
const SignIn = lazy(async () => ({ default: (await import("../sign-in/sign-in.tsx")).SignIn }));

function screen<Name extends string>(
  name: Name,
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
) {
  return lazy(async () => ({ default: (await load())[name] }));
}

type Screens = Readonly<Record<string, ReturnType<typeof screen>>>;

const screens: Screens = {
  home: screen("Home", () => import("../home/home.tsx")),
  orders: screen("Orders", () => import("../orders/orders.tsx")),
  "transaction-report": screen("Report", () => import("../report/report.tsx")),
  statement: screen("Statement", () => import("../report/statement.tsx")),
  callbacks: screen("Callbacks", () => import("../callbacks/callbacks.tsx")),
  requests: screen("Requests", () => import("../requests/requests.tsx")),
  checksum: screen("Checksum", () => import("../requests/checksum.tsx")),
  team: screen("Team", () => import("../team/team.tsx")),
  audit: screen("Audit", () => import("../audit/audit.tsx")),
  sandbox: screen("Sandbox", () => import("../sandbox/sandbox.tsx")),
  account: screen("Account", () => import("../account/account.tsx")),
  "payment-links": screen("Links", () => import("../links/links.tsx")),
  merchants: screen("Merchants", () => import("../merchants/merchants.tsx")),
  gates: screen("Gates", () => import("../gates/gates.tsx")),
  "vault-keys": screen("Keys", () => import("../keys/keys.tsx")),
  screening: screen("Screening", () => import("../screening/screening.tsx")),
  reconciliation: screen("Reconciliation", () => import("../reconciliation/reconciliation.tsx")),
};
/** The item's id follows the name of the screen in the URL. */
const items: Screens = {
  orders: screen("Order", () => import("../order/order.tsx")),
  callbacks: screen("Callback", () => import("../callbacks/callback.tsx")),
  requests: screen("Request", () => import("../requests/request.tsx")),
  "payment-links": screen("PaymentLink", () => import("../links/links.tsx")),
  merchants: screen("Merchant", () => import("../merchants/merchants.tsx")),
  endpoints: screen("Endpoint", () => import("../merchants/endpoint.tsx")),
  gates: screen("Gate", () => import("../gates/gates.tsx")),
  reconciliation: screen("ReconciledDay", () => import("../reconciliation/reconciliation.tsx")),
};
const firstScreen = "orders";

export function App() {
  const queries = useQueryClient();
  // The session is read every minute, because it may time out at any moment. When it has ended, no
  // data of the user stays on the screen.
  const session = useSession(60_000);
  useEffect(() => void loadLayout(), []);
  const { screen: named, item } = useAddress();
  const state = session.data?.state;
  useEffect(() => {
    if (state === "in" && named === "") go(firstScreen, { replaces: true });
    if (state === "out")
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
  }, [state, named, queries]);

  if (session.data === undefined) {
    if (session.error === null) return <ScreenSkeleton />;
    return <Failed error={session.error} retry={() => void session.refetch()} />;
  }
  const { user } = session.data;
  const isIn = state === "in" && user !== undefined;
  const chosen = named || firstScreen;
  return (
    <Suspense fallback={isIn ? <ScreenSkeleton /> : null}>
      {isIn ? (
        <Layout session={session.data} user={user} screen={chosen}>
          <Suspense fallback={<ScreenSkeleton />}>
            <Chosen table={item === "" ? screens : items} name={chosen} />
          </Suspense>
        </Layout>
      ) : (
        <SignIn session={session.data} />
      )}
    </Suspense>
  );
}

function Chosen({ table, name }: { readonly table: Screens; readonly name: string }) {
  const messages = useMessages();
  const Found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (Found !== undefined) return <Found />;
  return (
    <Nothing title={messages.noSuchPage} hint={messages.noSuchPageHint}>
      <Button onClick={() => go(firstScreen)}>{messages.toOrders}</Button>
    </Nothing>
  );
}
