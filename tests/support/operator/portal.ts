/** Users of the portal, and a browser for them, which keeps cookies. */
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
 * The same for all users of tests, with the least work that argon2 allows: every sign-in repeats
 * the work that the stored text names, and the gateway's own takes longer than most tests.
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

/** Users as another person changes them. */
export function teamOf({ installation }: Pick<World, "installation">) {
  return makeUserAdministration(installation.audit);
}

/** Answers the login, to which a merchant's user has the merchant's added. */
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

/** As an authenticator app shows it. */
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
  /** What a route answers, or the error. */
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
    /** By name, for a walk through the table. */
    send: (name: string, input: object) => send<object>(name, input, {}),
    /** As a form of the portal performs it. Answers what the action returns, or the error. */
    async act(action: string, values: Run["values"], more: Partial<Run> = {}) {
      const request = { action, values, reason: "a test", ...more };
      const { status, body } = await call("POST /actions/run", request);
      return { status, error: body.error, at: body.at, result: Object(body.result) };
    },
    /** Answers the session's state. */
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
    // An address that no route has is answered with a plain text.
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
    const body = JSON.parse(isJson ? await answer.text() : "{}") as Reply<Output>["body"];
    return { status: answer.status, headers: answer.headers, body };
  }
}

function pair([name, value]: [string, unknown]): [string, string] {
  return [name, String(value)];
}
