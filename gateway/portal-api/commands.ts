/**
 * Commands of `gw` in the portal (decision 0063). What a command takes, who may give it, what it
 * checks and what it writes to the audit is the command's own; here a form becomes a request.
 */
import type { MerchantId } from "../values/ids.ts";
import { hasCardNumber, maskCardNumbers } from "../values/mask-card-numbers.ts";
import { Problem } from "../values/problem.ts";
import type { Right, Role } from "../values/roles.ts";
import type { Api, Handlers } from "./api.ts";
import type { ChangeView, CommandInput, CommandView } from "./configuration-routes.ts";
import { type Caller, notFound, PortalRefusal, type RecordRefusal } from "./route.ts";

type DeskUser = {
  readonly role: Role;
  readonly merchantId: MerchantId | undefined;
  readonly actor: Caller["actor"];
};

type Written = {
  readonly action: string;
  readonly subject: string;
  readonly before?: object | undefined;
  readonly after?: object | undefined;
};

type RunInput = Api["POST /commands/run"]["input"];

/** The commands of `gw`, given by a user of the portal. */
export type CommandDesk = {
  describe(name: string, user: DeskUser): Promise<CommandView | undefined>;
  /** The entries that it would write, or why it would do nothing. */
  tryOut(request: CommandInput, user: DeskUser): Promise<readonly Written[] | Problem>;
  run(
    request: CommandInput & Pick<RunInput, "reason" | "once">,
    user: DeskUser,
  ): Promise<{ readonly output: unknown; readonly hasFindings: boolean } | Problem>;
  isNotOffered(problem: Problem): boolean;
  /** The right that the user's role lacks for it. */
  lackingIn(problem: Problem): Right | undefined;
};

export type CommandOptions = {
  /** Loaded when it is first used: a node at rest does not have it in memory. */
  readonly openDesk: () => Promise<CommandDesk>;
  /** Has this node know what a command has changed. */
  readonly reload: () => Promise<void>;
  readonly recordRefusal: RecordRefusal;
};

const cardNamed = new PortalRefusal(
  400,
  "card_number",
  "This may be a card number, which must not be here.",
);
const noReason = new PortalRefusal(400, "invalid_input", "Say why: it is kept in the audit.");

export function commandHandlers({ openDesk, reload, recordRefusal }: CommandOptions) {
  return {
    async "GET /command"({ name }, caller) {
      return (await (await openDesk()).describe(name, userOf(caller))) ?? notFound;
    },

    async "POST /commands/preview"(request, caller) {
      if (namesCard(request)) return cardNamed;
      const desk = await openDesk();
      const tried = await desk.tryOut(cleaned(request), userOf(caller));
      if (tried instanceof Problem) return refusalOf(desk, tried);
      return { changes: tried.map(viewChange) };
    },

    async "POST /commands/run"({ reason, once, ...request }, caller) {
      if (namesCard(request)) return cardNamed;
      const desk = await openDesk();
      const described = await desk.describe(request.name, userOf(caller));
      const isReveal = request.options.some(({ name }) => name === "reveal");
      if ((described?.isChange || isReveal) && reason === undefined) return noReason;
      const ran = await desk.run({ ...cleaned(request), reason, once }, userOf(caller));
      if (ran instanceof Problem) {
        const right = desk.lackingIn(ran);
        if (right !== undefined) await recordRefusal(caller.actor, `gw ${request.name}`, right);
        return refusalOf(desk, ran);
      }
      if (described?.isChange) await reload();
      return { result: asObject(ran.output), hasFindings: ran.hasFindings };
    },
  } satisfies Partial<Handlers>;
}

/** Merchants' order ids, and ids in lists, whose commands look themselves, may look like one. */
function namesCard({ name, words, options }: CommandInput): boolean {
  if (name.startsWith("list ")) return false;
  const values = options.filter(({ name: own }) => !texts.includes(own) && own !== "client-order");
  return [...words, ...values.map(({ value = "" }) => value)].some(hasCardNumber);
}

/** Options that people write texts in; the others are ids, numbers and names. */
const texts = ["description", "reason", "name", "shop-name"];

function cleaned(request: CommandInput): CommandInput {
  const options = request.options.map(({ name, value }) => ({
    name,
    value: value !== undefined && texts.includes(name) ? maskCardNumbers(value) : value,
  }));
  return { ...request, options };
}

function userOf({ account, merchantId, actor }: Caller): DeskUser {
  return { role: account.role, merchantId, actor };
}

function refusalOf(desk: CommandDesk, problem: Problem): PortalRefusal {
  if (desk.isNotOffered(problem)) return new PortalRefusal(404, "not_found", problem.sentence);
  return new PortalRefusal(409, "refused", problem.sentence);
}

function asObject(output: unknown): object {
  if (Array.isArray(output)) return { rows: output };
  return typeof output === "object" && output !== null ? output : { text: output ?? "" };
}

/** Only what differs. */
function viewChange({ action, subject, before, after }: Written): ChangeView {
  const [old, next] = [flatten(before), flatten(after)];
  const names = [...new Set([...old.keys(), ...next.keys()])];
  const fields = names
    .map((name) => ({ name, before: old.get(name) ?? "", after: next.get(name) ?? "" }))
    .filter((field) => field.before !== field.after);
  return { action, subject, fields };
}

/** `{ settings: { amountMax: "1000" } }` has the field `amountMax`. */
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
