/**
 * Performs an action for the command line and the portal: checks the user's right, asks for the
 * second person, does the work and writes the audit. A trial rolls the work back and returns its
 * effects.
 */
import { cellsForScreens, queryForScreens } from "../storage/cells/cells.ts";
import { makeAdministration } from "../storage/configuration/administration.ts";
import { takeApproval } from "../storage/people/approvals.ts";
import type { Audit, AuditEntry } from "../storage/people/audit.ts";
import { readDatabaseTime } from "../storage/server/database-clock.ts";
import { messageOf, NotAllowed, Problem } from "../values/problem.ts";
import { hasRight, type Right, type Role } from "../values/roles.ts";
import { makePrintDate } from "../values/time.ts";
import type { Action } from "./action.ts";
import { type Content, written } from "./field.ts";
import {
  type Lines,
  makeFindings,
  type Opened,
  type Output,
  openVault,
  type PortalUser,
  Report,
  type Session,
} from "./session.ts";

/** The properties of a session in which the command line and the portal differ. */
type Face = Pick<
  Session,
  | ("findings" | "reason" | "user" | "report" | "warn" | "confirm" | "progress" | "once" | "seen")
  | "node"
>;

export type Values = Readonly<Record<string, unknown>>;

type Refuse = (audit: Audit, right: Right) => Promise<Problem | undefined>;

export async function perform(
  opened: Opened,
  action: Action,
  values: Values,
  { refuse, ...face }: Face & { readonly refuse: Refuse },
): Promise<Output> {
  const right = (await action.findRight?.(opened, values as never)) ?? rightFor(action, values);
  const { audit, entries } = noted(auditFor(opened, face.reason));
  const refused = await refuse(audit, right);
  if (refused !== undefined) return refused;
  const entry = entryOf(action, values);
  const session = sessionOf(opened, audit, { ...face, isTrial: false });
  if (await needsSecondPerson(session, action, values)) {
    // A trial runs first, so that no second person is asked to approve work that would be refused.
    const tried = action.mode === "change" && (await tryOut(opened, action, values, face)).output;
    if (tried instanceof Problem) return tried;
    const wanted = { work: describeWork(action, values), right };
    const merchantId = await findApprovers(opened, action, values, face);
    const sentence = await takeApproval(audit, opened.actor.who, { ...wanted, merchantId });
    if (sentence !== undefined) return new Problem(sentence, "second_person");
  }
  const start = async () => action.perform(session, values as never);
  if (action.mode === "record") return recorded({ audit, entry, right, ...face }, start);
  const output = await start();
  const isDone = !(output instanceof Problem) && values["dryRun"] !== true;
  if (changesAtOnce(action, values) && isDone && entries.length === 0) await audit.write(entry);
  return output;
}

function needsSecondPerson(session: Session, { needsSecondPerson: needs }: Action, values: Values) {
  if (typeof needs === "function") return needs(session, values as never);
  return session.config.secondPerson && needs === true;
}

/** Returns the merchant whose users may approve the work besides operators. */
async function findApprovers(opened: Opened, action: Action, values: Values, { user }: Face) {
  if (typeof action.needsSecondPerson !== "function") return user?.merchantId;
  return action.findOwner?.(opened, values as never);
}

export function refuseRole(role: Role, right: Right): NotAllowed | undefined {
  if (hasRight(role, right)) return undefined;
  return new NotAllowed(`The role ${role} does not have the right ${right}.`, right);
}

/** The refusal does not reveal whether the subject exists at another merchant. */
export async function refuseSubject(
  opened: Opened,
  action: Action,
  values: Values,
  { merchantId }: PortalUser,
): Promise<Problem | undefined> {
  if (merchantId === undefined) return undefined;
  const owner = await action.findOwner?.(opened, values as never);
  return owner === merchantId ? undefined : noSuchThing;
}

export const noSuchThing = new Problem("There is no such thing here.", "not_found");

/** A browser gets neither progress messages nor questions. */
export function makePortalFace(user: PortalUser) {
  const notes: string[] = [];
  const ignore = () => undefined;
  return {
    user,
    findings: makeFindings(),
    notes,
    report: ignore,
    progress: () => ignore,
    confirm: async () => false,
    warn: (sentence: string) => void notes.push(sentence),
  };
}

export type Trial = { readonly output: Output; readonly entries: readonly AuditEntry[] };

/**
 * Performs an action and rolls it back. The action must write only in the audit's transaction, or
 * check `isTrial` before any other write. A trial reads on the connections that are reserved for
 * screens, because changes that wait for its lock on the end of the audit may occupy all others.
 */
export async function tryOut(
  opened: Opened,
  action: Action,
  values: Values,
  face: Face,
): Promise<Trial> {
  const [database, cells] = [queryForScreens(opened.database), cellsForScreens(opened.cells)];
  const opening = { ...opened, database, cells };
  const openKnown = async () => (await openVault(opening)).openSecret;
  const undo = new Error("the trial is rolled back");
  let trial: Trial = { output: undefined, entries: [] };
  try {
    await auditFor(opened, face.reason).together(async (inside) => {
      const { audit, entries } = noted(inside);
      const session = sessionOf({ ...opening, openKnown }, audit, { ...face, isTrial: true });
      trial = { output: await action.perform(session, values as never), entries };
      throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
  return trial;
}

/** If the user gives a field with its own right, that right replaces the right of the action. */
export function rightFor({ right, fields }: Action, values: Values): Right {
  const further = Object.keys(values).map((name) => fields[name]?.right);
  return further.find((each) => each !== undefined) ?? right;
}

/** Whether the audit entry is written with the work: for a `change`, or if a secret is shown. */
export function changesAtOnce(action: Action, values: Values): boolean {
  return action.mode === "change" || rightFor(action, values) !== action.right;
}

export function sessionOf(
  opened: Opened,
  audit: Audit,
  face: Face & Pick<Session, "isTrial">,
): Session {
  const { config, database } = opened;
  const printDate = makePrintDate(config.zone);
  const now = () => readDatabaseTime(database.query);
  return { ...opened, audit, administration: makeAdministration(audit), printDate, now, ...face };
}

function auditFor({ auditAs, actor }: Opened, reason: string | undefined): Audit {
  return auditAs(reason === undefined ? actor : { ...actor, why: reason });
}

function noted(audit: Audit) {
  const entries: AuditEntry[] = [];
  const note = (entry: AuditEntry) => {
    entries.push(entry);
    return entry;
  };
  const wrap = (inner: Audit): Audit => ({
    change: (work) => inner.change((query, write) => work(query, (entry) => write(note(entry)))),
    together: (work) => inner.together((each) => work(wrap(each))),
    write: (entry) => inner.write(note(entry)),
  });
  return { audit: wrap(audit), entries };
}

type Recorded = Pick<Session, "findings"> & {
  readonly audit: Audit;
  readonly entry: AuditEntry;
  readonly right: Right;
};

async function recorded(
  { audit, entry, right, findings }: Recorded,
  work: () => Promise<Output>,
): Promise<Output> {
  await audit.write(entry);
  const end = (after: object) =>
    audit.write({ action: `${entry.action} ended`, subject: entry.subject, after });
  try {
    const output = await work();
    const summary = summaryOf(output);
    const result = right === "reveal_secrets" ? {} : { result: summary };
    const done = summary?.["repeated"] === true ? "repeated" : "done";
    if (output instanceof Problem) await end({ outcome: "refused", why: output.sentence });
    else await end({ outcome: findings.exist() ? "done, with findings" : done, ...result });
    return output;
  } catch (error) {
    await end({ outcome: "failed", why: messageOf(error) });
    throw error;
  }
}

/** Lists are omitted from the audit, because they may be long. */
function summaryOf(output: Output): Lines | undefined {
  const value = output instanceof Report ? output.value : output;
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => typeof each !== "object"));
}

/** Returns an audit entry for an action that writes none, with file names but no secrets. */
export function entryOf({ name, fields }: Action, values: Values): AuditEntry {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const isWord = ([each]: readonly [string, unknown]) => fields[each]?.isWord === true;
  const words = given.filter(isWord).flatMap(([, value]) => printValue(value));
  const others = given.filter((each) => !isWord(each) && fields[each[0]]?.kind !== "secret");
  const named = others.map(([each, value]) => [each, isContent(value) ? value.name : value]);
  const after = Object.fromEntries(named);
  return { action: name, subject: words.join(" ") || name, after };
}

/** Names every value on which the work depends, because an approval is for these values only. */
export function describeWork(action: Action, values: Values): string {
  const { subject, after } = entryOf(action, values);
  const { by: _by, ...decisive } = { ...after } as Values;
  const pairs = Object.entries(decisive).map(([name, value]) => `${written(name)} ${value}`);
  return [action.name, ...(subject === action.name ? [] : [subject]), ...pairs].join(" ");
}

function printValue(value: unknown): readonly string[] {
  if (isContent(value)) return [value.name];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && "open" in value;
}
