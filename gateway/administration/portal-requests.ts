/**
 * Performs actions for the users of the portal: checks rights and the values that a form sends,
 * makes previews, and runs one long action at a time. The portal's API contains the routes.
 */
import { hash } from "node:crypto";
import { access, constants, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Api } from "../portal-api/api.ts";
import type { AuditEntry } from "../storage/people/audit.ts";
import { hasCardNumber, maskCardNumbers } from "../values/mask-card-numbers.ts";
import { Problem } from "../values/problem.ts";
import type { Right } from "../values/roles.ts";
import { type Action, isChange, isOffered } from "./action.ts";
import { findAction, loadAllActions } from "./actions.ts";
import { asTyped, settingsOf } from "./configuration-file.ts";
import { describeAction, offeredFields, schemaOf } from "./describe.ts";
import { type Content, type Field, type Language, written } from "./field.ts";
import {
  changesAtOnce,
  entryOf,
  makePortalFace,
  noSuchThing,
  perform,
  refuseRole,
  refuseSubject,
  rightFor,
  type Trial,
  tryOut,
  type Values,
} from "./perform.ts";
import { type GivenTexts, readGiven } from "./read-given.ts";
import {
  type Opened,
  type Output,
  type PortalUser,
  Report,
  Rows,
  type RunningNode,
} from "./session.ts";

export type ActingUser = PortalUser & {
  readonly actor: { readonly who: string; readonly from: string };
};

type ActionRequest = Api["POST /actions/run"]["input"];

/** A node makes one preview at a time, so waiting previews occupy no database connections. */
const previewsMax = 20;

export type PortalActions = ReturnType<typeof makePortalActions>;

export function makePortalActions(opened: Opened, node?: RunningNode) {
  const inTurn = makeTurns(previewsMax);
  let isBusy = false;
  return { describe, preview, run, computesPassword, describeSchemas, settingsOf };

  async function describe(name: string, language: Language, user: ActingUser) {
    const action = await findOffered(name);
    if (action === undefined || refuse(action, action.right, user)) return undefined;
    return describeAction(action, language, user.role);
  }

  /** Returns the audit entries that the action would have written. */
  async function preview(
    request: ActionRequest,
    user: ActingUser,
  ): Promise<readonly AuditEntry[] | Problem> {
    const read = await readRequest(opened, request, user);
    if (read instanceof Problem) return inForm(read);
    const { action, acting, values } = read;
    if (!changesAtOnce(action, values) || action.duration !== undefined) return [];
    const trial = await inTurn<Trial>(() => tryOut(acting, action, values, faceOf(read, request)));
    if (trial === "full") return new Problem("Many previews are being made: try again.");
    return trial.output instanceof Problem ? inForm(trial.output) : changesOf(read, trial);
  }

  async function run(request: ActionRequest, user: ActingUser) {
    const read = await readRequest(opened, request, user);
    if (read instanceof Problem) return inForm(read);
    const { action, acting, values } = read;
    const { duration, needsReason = isChange(action) || changesAtOnce(action, values) } = action;
    if (needsReason && request.reason === undefined) return noReason;
    if (duration !== undefined && isBusy) return new Problem(busy);
    isBusy ||= duration !== undefined;
    // For an action that takes hours, the form is answered with the first progress report.
    const begun = Promise.withResolvers<Output>();
    const report = (progress: string) => begun.resolve({ progress });
    const face = { ...faceOf(read, request), node, report, refuse: async () => undefined };
    const ended = perform(acting, action, values, face).finally(() => {
      if (duration !== undefined) isBusy = false;
    });
    const output = await (duration === "hours" ? Promise.race([begun.promise, ended]) : ended);
    if (output instanceof Problem) return inForm(output);
    if (output instanceof Rows) throw new Error("only the command line writes rows");
    return {
      output: output instanceof Report ? output.value : output,
      hasFindings: face.findings.exist(),
      notes: face.notes,
      // The configuration is not read again after an action that changes only an order.
      isToBeRead: isChange(action) && action.needsNode !== true,
    };
  }

  async function computesPassword(name: string): Promise<boolean> {
    return (await findOffered(name))?.computesPassword === true;
  }

  async function describeSchemas(): Promise<ReadonlyMap<string, ReturnType<typeof schemaOf>>> {
    const offered = (await loadAllActions()).filter(isOffered);
    return new Map(offered.map((action) => [action.name, schemaOf(action)]));
  }
}

const busy = "Another action that takes long is running: wait for its end.";
const noReason = new Problem("Say why: it is kept in the audit.", "invalid_input");

function inForm(problem: Problem): Problem {
  return problem.field === undefined ? problem : problem.about(written(problem.field));
}

function changesOf({ action, values }: ReadRequest, { entries }: Trial): readonly AuditEntry[] {
  return (entries.length > 0 ? entries : [entryOf(action, values)]).map(asTyped);
}

/** Runs work one after the other, and returns `full` if too much is waiting. */
function makeTurns(max: number) {
  let [count, latest]: [number, Promise<unknown>] = [0, Promise.resolve()];
  return async <Result>(work: () => Promise<Result>): Promise<Result | "full"> => {
    if (count >= max) return "full";
    count += 1;
    const turn = latest.then(work).finally(() => {
      count -= 1;
    });
    latest = turn.catch(() => undefined);
    return turn;
  };
}

async function findOffered(name: string): Promise<Action | undefined> {
  const action = await findAction(name);
  return action !== undefined && isOffered(action) ? action : undefined;
}

/** Checks the right before the input is read. Actions without `findOwner` are for operators. */
function refuse(action: Action, right: Right, { role, merchantId }: ActingUser) {
  const lacking = refuseRole(role, right);
  if (lacking !== undefined || merchantId === undefined) return lacking;
  return action.findOwner === undefined ? noSuchThing : undefined;
}

type ReadRequest = {
  readonly user: ActingUser;
  readonly action: Action;
  readonly acting: Opened;
  readonly values: Values;
  readonly once: string | undefined;
};

async function readRequest(
  opened: Opened,
  request: ActionRequest,
  user: ActingUser,
): Promise<ReadRequest | Problem> {
  const action = await findOffered(request.action);
  if (action === undefined) return noSuchThing;
  const given = givenIn(action, request);
  if (given instanceof Problem) return given;
  const right = await findRight(opened, action, given);
  const cleaned = refuse(action, right, user) ?? cleanedOf(action, given);
  if (cleaned instanceof Problem) return cleaned;
  const values = readGiven(action, cleaned);
  if (values instanceof Problem) return values;
  const acting = { ...opened, actor: user.actor };
  const fault =
    (await refuseSubject(acting, action, values, user)) ?? (await findFileFault(action, values));
  if (fault !== undefined) return fault;
  // Two requests are the same form if their id, user and values are equal. For an action that moves
  // money, the values are ignored: one form moves money only once, even if the user has corrected
  // the amount.
  const same = [user.actor.who, request.once, request.action, action.needsNode ? "" : cleaned];
  const once = request.once && hash("sha256", JSON.stringify(same));
  return { user, action, acting, values, once };
}

async function findRight(opened: Opened, action: Action, given: GivenTexts): Promise<Right> {
  const values = action.findRight && readGiven(action, given);
  const isRead = values !== undefined && !(values instanceof Problem);
  const found = isRead ? await action.findRight?.(opened, values as never) : undefined;
  return found ?? rightFor(action, given);
}

function givenIn(action: Action, { values }: ActionRequest): GivenTexts | Problem {
  const fields = new Map(offeredFields(action).map((each) => [written(each[0]), each]));
  const given: Record<string, GivenTexts[string]> = {};
  for (const [name, value] of Object.entries(values)) {
    const [key, field] = fields.get(name) ?? [];
    if (key === undefined) return new Problem(`There is no field ${name} here.`);
    const isSent = field?.kind === "file" || field?.kind === "secret";
    given[key] = isSent && typeof value === "string" ? contentOf(value) : value;
  }
  return given;
}

function contentOf(text: string): Content {
  return { name: "-", open: () => Readable.from([Buffer.from(text)]) };
}

/** Fields in which people write sentences. All other text fields contain ids, numbers or names. */
const sentences = ["description", "name", "shopName"];

/**
 * Masks card numbers in fields of free text, and refuses them in other fields. Two things are not
 * checked: actions on screening lists, which check card numbers themselves, and order ids, which
 * may look like card numbers.
 */
function cleanedOf({ name: action, fields }: Action, given: GivenTexts): GivenTexts | Problem {
  if (action.startsWith("list ")) return given;
  const values: Record<string, GivenTexts[string]> = { ...given };
  for (const [name, value] of Object.entries(given)) {
    const isSentence = sentences.includes(name) && fields[name]?.isWord === false;
    if (isSentence && typeof value === "string") values[name] = maskCardNumbers(value);
    else if (name !== "clientOrder" && textsIn(value).some(hasCardNumber)) {
      const sentence = "This may be a card number, which must not be here.";
      return new Problem(sentence, "card_number", name);
    }
  }
  return values;
}

function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each) => typeof each === "string");
}

const fileBytesMax = 1_000_000;
/** The maximum length of a value. A picture may be this long. */
const charactersMax = 40_000;

/**
 * Checks the length of values, and that a field of kind `path` names a file that the node can read.
 * A picture comes inside the request, and no file of the node is read for it.
 */
async function findFileFault({ fields }: Action, values: Values): Promise<Problem | undefined> {
  for (const [name, value] of Object.entries(values)) {
    for (const text of textsIn(value)) {
      if (text.length > charactersMax) {
        return new Problem(`${written(name)} is too long.`).about(name);
      }
      if (text === "none" || (await isUsable(fields[name], text))) continue;
      const what = fields[name]?.kind === "picture" ? "picture" : "file";
      return new Problem(`${text} is no ${what} that can be used here.`).about(name);
    }
  }
  return undefined;
}

async function isUsable(field: Field | undefined, text: string): Promise<boolean> {
  if (field?.kind === "picture") return text.startsWith("data:");
  if (field?.kind !== "path") return true;
  const isReadable = await access(text, constants.R_OK).then(
    () => true,
    () => false,
  );
  const found = isReadable ? await stat(text) : undefined;
  return found?.isFile() === true && found.size <= fileBytesMax;
}

function faceOf({ user, once }: ReadRequest, { reason, seen }: ActionRequest) {
  return { ...makePortalFace(user), reason, once, seen };
}
