/**
 * An example of every route of the portal API, as a user of the demonstration merchant would use
 * it.
 */
import { type Api, api } from "@tollgate/gateway/portal-api";
import { hasRight, isMerchantRole, type Role, rights } from "@tollgate/gateway/roles";
import { readGw } from "../programs.ts";
import { formOf, post } from "../wire.ts";
import type { World } from "../world.ts";
import { addUser } from "./portal.ts";

export { hasRight, portalRoles as roles, type Role } from "@tollgate/gateway/roles";

/** Whether a role may use a route, as the table of routes says. */
export function mayUse(role: Role, access: string, scope: string): boolean {
  const right = rights.find((each) => each === access);
  const has = right === undefined || hasRight(role, right);
  return has && (scope !== "operator" || !isMerchantRole(role));
}

type Values = {
  readonly order: string;
  /** The serial number of a refused request. */
  readonly serial: string;
  readonly endpoint: string;
  readonly link: string;
  /** Texts that another merchant's user must never see. */
  readonly secrets: readonly string[];
};

type Inputs = { readonly [Name in keyof Api]: (values: Values) => object };

const linkWords = ["link", "create", "--amount", "5", "--currency", "USD"];

/** A user of the demonstration merchant. */
const victim = "victim-of-the-matrix@demo";

const wrong = { password: "not the password at all" };

// biome-ignore format: a table
const inputs: Inputs = {
  "GET /session":                     () => ({}),
  "POST /sign-in":                    () => ({ login: "nobody", password: "not the password" }),
  "POST /sign-out":                   () => ({}),
  "POST /password":                   () => ({ current: "not the password", next: "another long phrase 7" }),
  "GET /sessions":                    () => ({}),
  "POST /sessions/revoke/:session":   () => ({ session: "0".repeat(32) }),
  "POST /sign-in/code":               () => ({ code: "000000" }),
  "POST /sign-in/passkey-challenge":  () => ({}),
  "POST /sign-in/passkey":            () => ({ response: { id: "none" } }),
  "POST /totp/begin":                 () => wrong,
  "POST /totp/confirm":               () => ({ code: "000000" }),
  "POST /totp/remove":                () => wrong,
  "POST /recovery-codes":             () => wrong,
  "GET /passkeys":                    () => ({}),
  "POST /passkeys/begin":             () => wrong,
  "POST /passkeys/confirm":           () => ({ name: "key", response: {} }),
  "POST /passkeys/remove/:passkey":   () => ({ passkey: "none", ...wrong }),
  "GET /orders":                      ({ order }) => ({ search: order }),
  "GET /exports/orders":                      ({ order }) => ({ search: order }),
  "GET /exports/transactions":        () => ({ merchant: "demo" }),
  "GET /orders/:order":               ({ order }) => ({ order }),
  "GET /filters":                     () => ({}),
  "GET /views":                       () => ({}),
  "POST /views/share":                () => ({ name: "refused", query: "status=declined" }),
  "POST /views/remove/:view":         () => ({ view: "999999" }),
  "GET /home":                        () => ({ range: "hour" }),
  "POST /orders/preview/:order":      ({ order }) => ({ order, action: "return" }),
  "GET /callbacks":                   () => ({}),
  "GET /callbacks/:order/:sequence":  ({ order }) => ({ order, sequence: 1 }),
  "GET /callbacks/progress":          ({ order }) => ({ order, resentAt: 1 }),
  "POST /callbacks/preview":          ({ order }) => ({ order }),
  "GET /actions/:action":            () => ({ action: "link create", language: "en" }),
  "POST /actions/preview":           ({ link }) => ({ action: "link close", values: { link } }),
  "POST /actions/run":               () => ({ action: "merchant show", values: { login: "demo" }, reason: "the matrix" }),
  "GET /merchants":                   () => ({}),
  "GET /merchants/:login":            () => ({ login: "demo" }),
  "GET /endpoints/:endpoint":         ({ endpoint }) => ({ endpoint }),
  "GET /gates":                       () => ({}),
  "GET /gates/:gate":                 () => ({ gate: "sandbox" }),
  "GET /rules":                       () => ({}),
  "GET /routing":                     ({ endpoint }) => ({ endpoint, amount: "10.42" }),
  "GET /links":                       () => ({}),
  "GET /links/:link":                 ({ link }) => ({ link }),
  "GET /reconciliations":             () => ({}),
  "GET /reconciliations/:gate/:day":  () => ({ gate: "sandbox", day: "2030-01-31" }),
  "GET /requests":                    () => ({}),
  "GET /requests/:serial":            ({ serial }) => ({ serial }),
  "GET /checksum/operations":         () => ({}),
  "POST /checksum/try":               ({ endpoint }) => ({ endpoint, operation: "sale", fields: { control: "0".repeat(40) } }),
  "GET /users":                       () => ({}),
  "GET /sandbox":                     () => ({}),
  "POST /sandbox/pay":                () => ({ card: "not-enrolled", endpoint: "none" }),
  "POST /sandbox/switch":             () => ({ name: "seed", value: "1" }),
  "GET /sandbox/ledger":              () => ({}),
  "GET /users/sessions":              () => ({}),
  "GET /approvals":                   () => ({}),
  "GET /audit":                       () => ({}),
};

export const examples = {
  routes: Object.entries(api),
  inputs,
  inputOf: (name: string, values: Values) => inputs[name as keyof Api](values),
  /** Whether the route ends the caller's session. */
  ends: (name: string) => name === "POST /sign-out",

  async prepare(world: World): Promise<Values> {
    const sale = await world.merchant().sale({ email: "only-demo@example.com" });
    await world.settle();
    const order = sale["gw-order-id"] ?? "";
    const endpoint = world.set.endpoints["plain"] ?? "";
    const form = formOf({ client_orderid: "refused-of-demo", control: "0".repeat(40) });
    const refused = await post(world, `/gw/api/v2/sale/${endpoint}`, form);
    const serial = new URLSearchParams(refused.text).get("serial-number") ?? "";
    await world.settle();
    const { link } = Object(await readGw(world, ...linkWords, "--endpoint", endpoint));
    await addUser(world, {
      login: "victim-of-the-matrix",
      role: "merchant-viewer",
      merchant: "demo",
    });
    return {
      order,
      serial,
      endpoint,
      link,
      secrets: [
        order,
        link,
        "refused-of-demo",
        `"${victim}"`,
        sale["merchant-order-id"],
        "only-demo@example.com",
      ],
    };
  },

  /** Returns a digest that changes with everything that a route could change of an order. */
  async digest({ installation }: World): Promise<string> {
    const [row] = await installation.database.query<{ text: string }>(
      `select md5(string_agg(id::text || version, ',' order by id)) ||
         (select md5(users::text) from users where login = $1) ||
         (select coalesce(sum(tries), 0) || max(begun_at)::text from callbacks) as text
       from orders`,
      [victim],
    );
    return row?.text ?? "";
  },
};
