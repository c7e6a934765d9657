/** Texts about users and their sessions: roles, actions, ways to sign in and browsers. */
import type { Messages } from "../language/texts.ts";
import type { OutputOf, Session, User } from "../shell/call.ts";

export type Listed = OutputOf<"GET /users">["users"][number];

/** A role that this portal does not know is shown as it is. */
export function roleName(messages: Pick<Messages, "roles">, role = ""): string {
  const names: Readonly<Record<string, string>> = messages.roles;
  return names[role] ?? role;
}

export function signInBy(
  { password, totp, passkeys }: Pick<Listed, "password" | "totp" | "passkeys">,
  messages: Pick<Messages, "passwords" | "withApp" | "withPasskeys">,
): string {
  const factors = [
    messages.passwords[password],
    ...(totp ? [messages.withApp] : []),
    ...(passkeys > 0 ? [messages.withPasskeys(passkeys)] : []),
  ];
  return factors.join(" + ");
}

const states = ["user disable", "user enable"] as const;
const changes = ["user role", "user password", "user reset-factors"] as const;
export type UserAction = (typeof changes | typeof states)[number];

/** Returns the actions in the order of the menu. Users have no actions on themselves. */
export function actionsFor(
  { login, enabled, role }: Pick<Listed, "login" | "enabled" | "role">,
  own: Pick<User, "login">,
): readonly UserAction[] {
  if (login === own.login) return [];
  const state = states[enabled ? 0 : 1];
  return role === "service" ? [state] : [...changes, state];
}

/** Only a user with a second factor has recovery codes, which are entered in its place. */
export function hasFactor({ totp, passkeys }: NonNullable<Session["factors"]>): boolean {
  return totp || passkeys > 0;
}

/** Apps and lists show codes in groups of digits, so users may type spaces, which are removed. */
export function codeIn(typed: string): string {
  return typed.replaceAll(" ", "");
}

const browsers = ["Edg", "OPR", "Firefox", "Chrome", "Safari"];
const systems = ["iPhone", "iPad", "Android", "Windows", "Mac OS X", "Linux"];

/** A program that is not a known browser is shown by the name that it sends. */
export function describeAgent(agent: string): string {
  const browser = browsers.find((name) => agent.includes(`${name}/`));
  const system = systems.find((name) => agent.includes(name));
  if (browser === undefined) return agent.slice(0, 60) || "–";
  const name = { Edg: "Edge", OPR: "Opera" }[browser] ?? browser;
  return system === undefined ? name : `${name}, ${system.replace(" OS X", "OS")}`;
}
