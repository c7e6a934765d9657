/** Roles that a user may give to others, and what is sent to change another user. */
import type { Messages } from "../language/english.ts";
import type { InputOf, OutputOf, User } from "../shell/call.ts";

export type Listed = OutputOf<"GET /users">["users"][number];
export type Role = InputOf<"POST /users/add">["role"];
export type Chosen = { readonly role: Role; readonly merchant: string };
export type UserActionName = "role" | "password" | "factors" | "disable" | "enable";
type Giver = Pick<User, "merchant">;

export function isMerchants(role: Role): boolean {
  return role.startsWith("merchant-");
}

/** An administrator of a merchant makes no operator, and a user that exists stays on its side. */
export function rolesToGive(
  all: readonly Role[],
  { merchant }: Giver,
  changed?: Pick<Listed, "merchant">,
): readonly Role[] {
  const isOfMerchant = changed === undefined ? undefined : changed.merchant !== undefined;
  return all.filter(
    (role) =>
      (merchant === undefined || isMerchants(role)) &&
      (isOfMerchant === undefined || isMerchants(role) === isOfMerchant),
  );
}

/** What a new user types to sign in. */
export function loginOf(name: string, { role, merchant }: Chosen, giver: Giver): string {
  return isMerchants(role) ? `${name}@${giver.merchant ?? merchant}` : name;
}

/** What the form of a new user begins with: the least of what can be given usefully. */
export function firstChoice({ merchant }: Giver): Chosen {
  return { role: merchant === undefined ? "support" : "merchant-viewer", merchant: "" };
}

/** As the gateway takes it: operators name the merchant, a merchant's administrator has one. */
export function roleInput({ role, merchant }: Chosen, giver: Giver) {
  const isNamed = giver.merchant === undefined && isMerchants(role);
  return isNamed ? { role, merchant } : { role };
}

/** In the order of the menu. Nothing is offered to do to oneself. */
export function actionsFor(
  { login, enabled, role }: Pick<Listed, "login" | "enabled" | "role">,
  own: Pick<User, "login">,
): readonly UserActionName[] {
  if (login === own.login) return [];
  const state = enabled ? "disable" : "enable";
  return role === "service" ? [state] : ["role", "password", "factors", state];
}

export function actionLabels(messages: Messages): Readonly<Record<UserActionName, string>> {
  return {
    role: messages.changeRole,
    password: messages.temporaryPassword,
    factors: messages.resetFactors,
    disable: messages.disable,
    enable: messages.enable,
  };
}
