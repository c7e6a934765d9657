/** Users of the portal, and a browser for them that keeps cookies. */
import assert from "node:assert/strict";
import { argon2Sync, randomBytes } from "node:crypto";
import type { Gateway } from "@tollgate/gateway";
import type { Api } from "@tollgate/gateway/portal-api";
import type { Role } from "@tollgate/gateway/roles";
import { Secret } from "@tollgate/gateway/secret";
import { stepOf, totpAt } from "@tollgate/gateway/totp";
import { makeUserAdministration } from "@tollgate/gateway/users";

export { disableIdle } from "@tollgate/gateway/users";
export { buildPortal } from "@tollgate/portal/build";

import type { World } from "../world.ts";

export const password = "a long test phrase";
/**
 * The stored password of all test users, with the least work that argon2 allows: every sign-in
 * repeats the work that the stored text names, and the gateway's own setting takes longer than most
 * tests.
 */
const stored = hashCheaply(password);

function hashCheaply(message: string): string {
  const [memory, passes, parallelism] = [8, 1, 1];
  const nonce = randomBytes(16);
  const work = { memory, passes, parallelism, tagLength: 32 };
  const tag = argon2Sync("argon2id", { message, nonce, ...work });
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString("base64").replace(/=+$/, ""));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${salt}$${hash}`;
}

/**
 * Copies the row of the portal's only order, as if it had been paid each second before. Returns the
 * number of copies.
 */
export async function copyOrderRow(
  { installation }: Pick<World, "installation">,
  count: number,
): Promise<number> {
  const { query } = installation.database;
  const [paid] = await query<{ row: object; id: string; at: number }>(
    `select to_jsonb(order_index) as row, order_id as id, extract(epoch from at) as at
     from order_index`,
  );
  assert.ok(paid !== undefined);
  const earlier = Array.from({ length: count }, (_, second) => ({
    ...paid.row,
    order_id: String(BigInt(paid.id) + BigInt(second) + 1n),
    at: new Date((Number(paid.at) - second - 1) * 1000),
  }));
  const copies = await query(
    `insert into order_index select * from jsonb_populate_recordset(null::order_index, $1)
     returning order_id`,
    [JSON.stringify(earlier)],
  );
  return copies.length;
}

/** Returns the administration of users, as another person performs it. */
export function teamOf({ installation }: Pick<World, "installation">) {
  return makeUserAdministration(installation.audit);
}

/** Adds a user and returns the login, to which the merchant of a merchant's user is added. */
export async function addUser(
  { installation }: Pick<World, "installation">,
  { login, role, merchant, isTemporary = false }: NewUser,
): Promise<string> {
  const users = teamOf({ installation });
  const [found] = await installation.database.query<{ id: string }>(
    "select id from merchants where login = $1",
    [merchant ?? ""],
  );
  const added = await users.add(login, role, found?.id as Parameters<typeof users.add>[2]);
  assert.ok(added !== undefined, `there is a user ${login} already`);
  await users.setPassword(added, { stored, isTemporary });
  return added;
}

/** Returns the code that an authenticator app shows. */
export function codeAt(secret: string, now: Parameters<typeof stepOf>[0]): string {
  return totpAt(new Secret(secret), stepOf(now));
}

type NewUser = {
  readonly login: string;
  readonly role: Role;
  readonly merchant?: string;
  readonly isTemporary?: boolean;
};

type Refused = { readonly code: string; readonly message: string; readonly field?: string };

export type Reply<Output> = {
  readonly status: number;
  readonly headers: Headers;
  /** The answer of a route, or its error. */
  readonly body: Output & { readonly error?: Refused };
};

type Route = keyof Api;
type Run = Api["POST /actions/run"]["input"];
type Headed = { readonly headers?: Readonly<Record<string, string>> };

export type Browser = ReturnType<typeof openBrowser>;

export function openBrowser({ port }: Pick<Gateway, "port">, fixed: Record<string, string> = {}) {
  const jar = new Map<string, string>();
  return {
    jar,
    call,
    /** Calls a route by name, for a walk through the table of routes. */
    send: (name: string, input: object) => send<object>(name, input, {}),
    /**
     * Performs an action like a form of the portal. Returns the result of the action, or the error.
     */
    async act(action: string, values: Run["values"], more: Partial<Run> = {}) {
      const request = { action, values, reason: "a test", ...more };
      const { status, body } = await call("POST /actions/run", request);
      return { status, error: body.error, at: body.at, result: Object(body.result) };
    },
    /** Signs in, and returns the state of the session. */
    async signIn(login: string, given = password) {
      const { body } = await call("POST /sign-in", { login, password: given });
      return body.error?.code ?? body.state;
    },
  };

  async function call<Name extends Route>(
    name: Name,
    input: Api[Name]["input"],
    options: Headed = {},
  ): Promise<Reply<Api[Name]["output"]>> {
    return send(name, input as object, options);
  }

  async function send<Output>(
    name: string,
    input: object,
    { headers = {} }: Headed,
  ): Promise<Reply<Output>> {
    const [method = "", template = ""] = name.split(" ");
    const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
    const path = template.replace(/:(\w+)/g, (_, each: string) => {
      const value = String(rest.get(each));
      rest.delete(each);
      return encodeURIComponent(value);
    });
    const query = method === "GET" ? `?${new URLSearchParams([...rest].map(pair))}` : "";
    const answer = await fetch(`http://127.0.0.1:${port}/portal/api${path}${query}`, {
      method,
      headers: {
        "x-portal": "1",
        cookie: [...jar].map(([key, value]) => `${key}=${value}`).join("; "),
        ...fixed,
        ...headers,
      },
      ...(method === "POST" && { body: JSON.stringify(Object.fromEntries(rest)) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(key, value);
    }
    // An address without a route is answered with plain text.
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
    const body = JSON.parse(isJson ? await answer.text() : "{}") as Reply<Output>["body"];
    return { status: answer.status, headers: answer.headers, body };
  }
}

function pair([name, value]: [string, unknown]): [string, string] {
  return [name, String(value)];
}
