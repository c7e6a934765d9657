/** Formats a payment link's state, number of uses, and facts for its page in the portal. */
import type { Messages } from "../language/texts.ts";
import type { OutputOf, User } from "../shell/call.ts";

type LinkDetail = OutputOf<"GET /links/:link">;
export type LinkLine = LinkDetail["line"];

/** For each state of a payment link, the order status whose colour it takes. */
export const stateColours = {
  open: "approved",
  used: "processing",
  expired: "filtered",
  closed: "off",
} as const satisfies Readonly<Record<LinkLine["state"], string>>;

/** The gateway does not count the uses of a link without a maximum, so no number is shown. */
export function usesOf(
  { uses, usesMax }: Pick<LinkLine, "uses" | "usesMax">,
  anyNumber: string,
): string {
  return usesMax === undefined ? anyNumber : `${uses} / ${usesMax}`;
}

/** Even a payment link that is used up or expired can be ended, and it then stays ended. */
export function mayEnd({ state }: Pick<LinkLine, "state">, { rights }: Pick<User, "rights">) {
  return rights.includes("move_money") && state !== "closed";
}

export function factsOf<Shown>(
  { line, returnUrl, callbackUrl }: Omit<LinkDetail, "url" | "svg">,
  messages: Messages,
  showTime: (at: number, by?: string) => Shown,
): readonly (readonly [name: string, value: Shown | string | undefined])[] {
  return [
    [messages.fields.description, line.description],
    [messages.merchant, line.merchant],
    [messages.endpoint, line.endpoint],
    [messages.uses, usesOf(line, messages.anyNumber)],
    [messages.fields["created-at"], showTime(line.createdAt, line.createdBy)],
    [messages.expires, line.expiresAt === undefined ? "" : showTime(line.expiresAt)],
    [messages.fields["return-url"], returnUrl],
    [messages.fields["callback-url"], callbackUrl],
  ];
}
