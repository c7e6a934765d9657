/**
 * An example of every route of the portal API, as a user of the demonstration merchant would use
 * it.
 */
import { type Api, api } from "@tollgate/gateway/portal-api";
import { hasRight, isMerchantRole, type Role, rights } from "@tollgate/gateway/roles";
import type { World } from "./world.ts";

export { type Role, roles } from "@tollgate/gateway/roles";

/** As the table says it. */
export function mayUse(role: Role, access: string, scope: string): boolean {
  const right = rights.find((each) => each === access);
  const has = right === undefined || hasRight(role, right);
  return has && (scope !== "operator" || !isMerchantRole(role));
}

type Values = {
  readonly order: string;
  /** What another merchant's user must never see. */
  readonly secrets: readonly string[];
};

type Inputs = { readonly [Name in keyof Api]: (values: Values) => object };

const wrong = { password: "not the password at all" };

// biome-ignore format: a table
const inputs: Inputs = {
  "GET /session":                     () => ({}),
  "POST /sign-in":                    () => ({ login: "nobody", password: "not the password" }),
  "POST /sign-out":                   () => ({}),
  "POST /password":                   () => ({ current: "not the password", next: "another long phrase" }),
  "GET /sessions":                    () => ({}),
  "POST /sessions/revoke/:session":   () => ({ session: "0".repeat(32) }),
  "POST /sign-in/code":               () => ({ code: "000000" }),
  "POST /sign-in/passkey-challenge":  () => ({}),
  "POST /sign-in/passkey":            () => ({ response: { id: "none" } }),
  "POST /totp/begin":                 () => ({}),
  "POST /totp/confirm":               () => ({ code: "000000" }),
  "POST /totp/remove":                () => wrong,
  "POST /recovery-codes":             () => wrong,
  "GET /passkeys":                    () => ({}),
  "POST /passkeys/begin":             () => ({}),
  "POST /passkeys/confirm":           () => ({ name: "key", response: {} }),
  "POST /passkeys/remove/:passkey":   () => ({ passkey: "none", ...wrong }),
};

export const examples = {
  routes: Object.entries(api),
  inputs,
  inputOf: (name: string, values: Values) => inputs[name as keyof Api](values),
  /** Ends the session of the caller. */
  ends: (name: string) => name === "POST /sign-out",

  async prepare(world: World): Promise<Values> {
    const sale = await world.merchant().sale({ email: "only-demo@example.com" });
    await world.settle();
    const order = sale["gw-order-id"] ?? "";
    return { order, secrets: [order, sale["merchant-order-id"], "only-demo@example.com"] };
  },

  /** Changes with anything that a route could change of an order. */
  async digest({ installation }: World): Promise<string> {
    const [row] = await installation.database.query<{ text: string }>(
      `select md5(string_agg(id::text || version, ',' order by id)) ||
         (select coalesce(sum(tries), 0) || max(begun_at)::text from callbacks) as text
       from orders`,
    );
    return row?.text ?? "";
  },
};
