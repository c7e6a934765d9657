/**
 * How a command is carried out, for `gw` and for the portal alike: the user's right, the work, and
 * the audit. A trial does the work and takes it back: what it tells is what would happen.
 */
import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { openVault } from "../administration/session.ts";
import { makeAdministration } from "../storage/administration.ts";
import type { Audit, AuditEntry } from "../storage/audit.ts";
import { messageOf, Problem } from "../values/problem.ts";
import type { Right } from "../values/roles.ts";
import type { Installation } from "../wiring/installation.ts";
import { type CommandMode, commandRights } from "./rights.ts";

/** What a command reads: a file that the user has named, or with `-` standard input. */
export type Input = {
  open(file: string): AsyncIterable<Uint8Array>;
};

export const processInput: Input = {
  open: (file) => (file === "-" ? process.stdin : createReadStream(file)),
};

export type Lines = Readonly<Record<string, unknown>>;
/** A sentence, named values, or a table; nothing when the command has printed everything itself. */
export type Output = string | Lines | readonly Lines[] | Problem | undefined;
export type Session = Installation & {
  readonly administration: ReturnType<typeof makeAdministration>;
  /** Whether the output is for programs. */
  readonly json: boolean;
  /** The files that the user has named, and standard input. */
  readonly input: Input;
  /** The audit's transaction is taken back; what is outside of it must not be done. */
  readonly isTrial: boolean;
  readonly findings: Findings;
  /** What the user gives as the reason, for the audit. */
  readonly reason: string | undefined;
  /** Tells how far it is. */
  readonly report: (progress: string) => void;
  /** The same for a request that was sent again: what it makes is made once. */
  readonly once?: string | undefined;
};

/** Whether the command has found something that needs a person. */
export type Findings = { note(): void; exist(): boolean };

/** A command's arguments and options come last, in the order of its usage. */
export type CommandWork<First extends unknown[]> = (
  ...given: [...First, ...never[]]
) => Promise<Output> | Output;

export type Performance = {
  readonly command: Command;
  readonly work: CommandWork<[Session]>;
  /** As Commander gives them, the options last. */
  readonly given: readonly never[];
  readonly json: boolean;
  readonly input: Input;
  readonly reason: string | undefined;
  readonly findings: Findings;
  readonly report: (progress: string) => void;
  readonly once?: string | undefined;
  readonly refuse: (audit: Audit, right: Right) => Promise<Problem | undefined>;
};

export async function perform(
  installation: Installation,
  { command, work, given, reason, refuse, ...rest }: Performance,
): Promise<Output> {
  const options = Object(given.at(-1));
  const [right, mode] = rightsOf(command, options);
  const { audit, entries } = noted(auditFor(installation, reason));
  const refused = await refuse(audit, right);
  if (refused !== undefined) return refused;
  const session = sessionOf(installation, audit, { ...rest, reason, isTrial: false });
  const start = () => Promise.resolve(work(session, ...given));
  const entry = entryOf(command, given);
  if (mode === "record") return recorded({ audit, entry, right, ...rest }, start);
  const output = await start();
  const isDone = !(output instanceof Problem) && !("dryRun" in options);
  if (mode === "change" && isDone && entries.length === 0) await audit.write(entry);
  return output;
}

export type Tried = { readonly output: Output; readonly entries: readonly AuditEntry[] };

/**
 * Of a command that changes things in the audit's transaction alone, or asks `isTrial`. While it
 * holds the audit's head it reads on connections of its own: others may be taken by those who wait
 * for the head.
 */
export async function tryOut(
  place: Installation,
  { work, given, reason, ...rest }: Omit<Performance, "refuse" | "command">,
): Promise<Tried> {
  const { aside: query, snapshotAside: snapshot } = place.database;
  const database = { ...place.database, query, snapshot };
  const openKnown = async () => (await openVault({ ...place, database })).openSecret;
  const installation = { ...place, database, openKnown };
  const undo = new Error("a trial is taken back");
  let tried: Tried = { output: undefined, entries: [] };
  try {
    await auditFor(installation, reason).together(async (inside) => {
      const { audit, entries } = noted(inside);
      const session = sessionOf(installation, audit, { ...rest, reason, isTrial: true });
      tried = { output: await work(session, ...given), entries };
      throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
  return tried;
}

type Manner = Pick<
  Session,
  "json" | "input" | "isTrial" | "findings" | "reason" | "report" | "once"
>;

function sessionOf(installation: Installation, audit: Audit, manner: Manner): Session {
  return { ...installation, audit, administration: makeAdministration(audit), ...manner };
}

function auditFor({ auditAs, actor }: Installation, reason: string | undefined): Audit {
  return auditAs(reason === undefined ? actor : { ...actor, why: reason });
}

/** A command that changes something and has written no entry of its own gets one. */
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

type Recorded = {
  readonly audit: Audit;
  readonly entry: AuditEntry;
  readonly right: Right;
  readonly findings: Findings;
};

/** Work of more than one transaction: an entry before it, and one with its outcome. */
async function recorded(
  { audit, entry, right, findings }: Recorded,
  work: () => Promise<Output>,
): Promise<Output> {
  await audit.write(entry);
  const end = (after: object) =>
    audit.write({ action: `${entry.action} ended`, subject: entry.subject, after });
  try {
    const output = await work();
    const result = right === "reveal_secrets" ? {} : { result: summaryOf(output) };
    if (output instanceof Problem) await end({ outcome: "refused", why: output.sentence });
    else await end({ outcome: findings.exist() ? "done, with findings" : "done", ...result });
    return output;
  } catch (error) {
    await end({ outcome: "failed", why: messageOf(error) });
    throw error;
  }
}

/** Named values; no lists, which may be long. */
function summaryOf(output: Output): Lines | undefined {
  if (typeof output !== "object" || Array.isArray(output)) return undefined;
  return Object.fromEntries(Object.entries(output).filter(([, each]) => typeof each !== "object"));
}

/** Whether a command looks or changes may depend on an option. */
export function rightsOf(command: Command, options: object = {}): readonly [Right, CommandMode] {
  const path = pathOf(command);
  const found =
    commandRights["reveal" in options ? `${path} --reveal` : path] ?? commandRights[path];
  if (found === undefined) throw new Error(`no rights are known for gw ${path}`);
  return found;
}

export function pathOf(command: Command): string {
  const { parent } = command;
  if (parent === null) return "";
  return `${pathOf(parent)} ${command.name()}`.trim();
}

/** Words of a command line are no secrets: those are read from files or standard input. */
function entryOf(command: Command, given: readonly unknown[]): AuditEntry {
  const words = given.slice(0, -1).flat();
  const subject = words.filter((word) => word !== undefined).join(" ") || pathOf(command);
  return { action: pathOf(command), subject, after: Object(given.at(-1)) };
}
