/**
 * Performs the administration's actions, such as `endpoint set`, for users of the portal. The table
 * of actions has each action's fields, right, checks and audit entry; this file translates the
 * portal's requests.
 */
import type { ActingUser, PortalActions } from "../administration/portal-requests.ts";
import { NotAllowed, Problem } from "../values/problem.ts";
import type { Handlers } from "./api.ts";
import type { ChangeView } from "./configuration-routes.ts";
import { type Caller, notFound, PortalRefusal, type RecordRefusal } from "./route.ts";
import type { Guard } from "./sign-in.ts";

export type AdministrationOptions = {
  /** Loads actions on their first use, so that a node without portal users saves the memory. */
  readonly loadActions: () => Promise<PortalActions>;
  readonly reload: () => Promise<void>;
  readonly recordRefusal: RecordRefusal;
  readonly guard: Pick<Guard, "bounded">;
  readonly documentsUrl: () => string;
};

export function administrationHandlers(options: AdministrationOptions) {
  const { loadActions, reload, recordRefusal, guard, documentsUrl } = options;
  return {
    async "GET /actions/:action"({ action, language }, caller) {
      const actions = await loadActions();
      const found = await actions.describe(action, language, userOf(caller));
      if (found === undefined) return notFound;
      const fields = found.fields.map(({ document, ...field }) => ({
        ...field,
        ...(document !== undefined && { document: documentsUrl() + document }),
      }));
      return { ...found, fields };
    },

    async "POST /actions/preview"(request, caller) {
      const actions = await loadActions();
      const entries = await actions.preview(request, userOf(caller));
      return entries instanceof Problem ? hide(entries) : { changes: entries.map(viewChange) };
    },

    async "POST /actions/run"(request, caller) {
      const actions = await loadActions();
      const run = () => actions.run(request, userOf(caller));
      const computes = await actions.computesPassword(request.action);
      const ran = await (computes ? guard.bounded(run) : run());
      if (ran instanceof PortalRefusal) return ran;
      if (ran instanceof NotAllowed) {
        await recordRefusal(caller.actor, `gw ${request.action}`, ran.right);
      }
      if (ran instanceof Problem) return hide(ran);
      if (ran.isToBeRead) await reload();
      const { hasFindings, notes } = ran;
      return { result: asObject(ran.output), hasFindings, notes, at: caller.now };
    },
  } satisfies Partial<Handlers>;
}

function userOf({ account, merchantId, actor }: Caller): ActingUser {
  return { role: account.role, merchantId, actor };
}

/** An action that the role does not allow is refused like an unknown one, with 404 `not_found`. */
function hide(problem: Problem): PortalRefusal {
  const isHidden = problem instanceof NotAllowed;
  return refusalOf(isHidden ? new Problem(problem.sentence, "not_found") : problem);
}

const unavailable = "The gateway cannot do this now. Try again.";
const inputCodes: readonly unknown[] = ["card_number", "invalid_input", "invalid_amount"];

export function refusalOf({ sentence, code = "refused", field }: Problem): PortalRefusal {
  if (code === "nothing_found") return notFound;
  if (code === "not_found") return new PortalRefusal(404, code, sentence, field);
  if (code === "storage_unavailable") return new PortalRefusal(503, "unavailable", unavailable);
  if (code === "not_allowed") return new PortalRefusal(403, code, sentence);
  return new PortalRefusal(inputCodes.includes(code) ? 400 : 409, code, sentence, field);
}

function asObject(output: unknown): object {
  if (Array.isArray(output)) return { rows: output };
  return typeof output === "object" && output !== null ? output : { text: output ?? "" };
}

type Written = {
  readonly action: string;
  readonly subject: string;
  readonly before?: object | undefined;
  readonly after?: object | undefined;
};

/** Returns the fields that a previewed change alters, each with its old and its new value. */
function viewChange({ action, subject, before, after }: Written): ChangeView {
  const [old, next] = [flatten(before), flatten(after)];
  const names = [...new Set([...old.keys(), ...next.keys()])];
  const fields = names
    .map((name) => ({ name, before: old.get(name) ?? "", after: next.get(name) ?? "" }))
    .filter((field) => field.before !== field.after);
  return { action, subject, fields };
}

/**
 * Flattens nested values. The name `settings` is left out of the fields' names, so that `{
 * settings: { amountMax: "1000" } }` has the field `amountMax`.
 */
function flatten(value: object | undefined, path = ""): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [name, each] of Object.entries(value ?? {})) {
    const at = path === "" || path === "settings" ? name : `${path} ${name}`;
    const isNested = typeof each === "object" && each !== null && !Array.isArray(each);
    if (isNested) for (const [inner, text] of flatten(each, at)) fields.set(inner, text);
    else if (each !== undefined && each !== null) fields.set(at, textOf(each));
  }
  return fields;
}

function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
