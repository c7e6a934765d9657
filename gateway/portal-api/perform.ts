/**
 * Actions of the administration that the portal's own screens perform. The action itself has the
 * user's right, the second person and the audit; a handler has the screen's request and answer.
 */
import type { Problem } from "../values/problem.ts";
import type { Api } from "./api.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";

type Moved = Api["POST /orders/capture/:order"]["output"];
type Decided = Api["POST /orders/ask/:order"]["output"];

/** What they return. */
type Performed = {
  readonly "order capture": Moved;
  readonly "order return": Moved;
  readonly "doubt ask": Decided;
  readonly "doubt settle": Decided;
  readonly "callback resend": { readonly "to be sent again": number };
  readonly "audit verify": Api["POST /audit/verify"]["output"];
};

/** What a form says beside the action's fields. */
export type FormFacts = {
  readonly reason?: string;
  /** The form's own id: sent again, it is done once. */
  readonly once?: string;
  /** The version of the order that the screen showed. */
  readonly seen?: number;
};

/** Returns what the action returns, or the problem that stops it. */
export type PerformAction = <Name extends string>(
  name: Name,
  given: Readonly<Record<string, string | undefined>>,
  caller: Caller,
  form?: FormFacts,
) => Promise<(Name extends keyof Performed ? Performed[Name] : unknown) | Problem>;

const unavailable = "The gateway cannot do this now. Try again.";
const inputCodes: readonly unknown[] = ["card_number", "invalid_input", "invalid_amount"];

export function refusalOf({ sentence, code = "refused", field }: Problem): PortalRefusal {
  if (code === "nothing_found") return notFound;
  if (code === "not_found") return new PortalRefusal(404, code, sentence, field);
  if (code === "storage_unavailable") return new PortalRefusal(503, "unavailable", unavailable);
  if (code === "not_allowed") return new PortalRefusal(403, code, sentence);
  return new PortalRefusal(inputCodes.includes(code) ? 400 : 409, code, sentence, field);
}
