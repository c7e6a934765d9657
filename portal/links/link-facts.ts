/** A payment link in words: its state, how often it is paid, and the facts of its page. */
import type { Messages } from "../language/texts.ts";
import type { OutputOf, User } from "../shell/call.ts";

type LinkDetail = OutputOf<"GET /links/:link">;
export type LinkLine = LinkDetail["line"];

/** The colours of an order's status. */
export const stateColours = {
  open: "approved",
  used: "processing",
  expired: "filtered",
  closed: "off",
} as const satisfies Readonly<Record<LinkLine["state"], string>>;

/** Pages begin no more than the maximum; of a link for many, none is counted. */
export function usesOf(
  { uses, usesMax }: Pick<LinkLine, "uses" | "usesMax">,
  anyNumber: string,
): string {
  return usesMax === undefined ? anyNumber : `${uses} / ${usesMax}`;
}

/** A link that is paid up or has expired can be ended, too: it then stays ended. */
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
