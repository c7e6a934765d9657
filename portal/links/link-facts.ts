/** Formats a payment link: its state, its number of uses, and the facts of its page. */
import type { Messages } from "../language/texts.ts";
import type { OutputOf, User } from "../shell/call.ts";

type LinkDetail = OutputOf<"GET /links/:link">;
export type LinkLine = LinkDetail["line"];

/** A payment link's label has the colour of one of these order statuses. */
export const stateColours = {
  open: "approved",
  used: "processing",
  expired: "filtered",
  closed: "off",
} as const satisfies Readonly<Record<LinkLine["state"], string>>;

/**
 * Formats the uses of a payment link and their maximum. Without a maximum, uses are not counted.
 */
export function usesOf(
  { uses, usesMax }: Pick<LinkLine, "uses" | "usesMax">,
  anyNumber: string,
): string {
  return usesMax === undefined ? anyNumber : `${uses} / ${usesMax}`;
}

/**
 * Whether the user may end the payment link. A link that is used up or expired can be ended too,
 * and then stays ended.
 */
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
