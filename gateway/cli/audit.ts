/** `gw audit`: lists the audit, and proves that it is whole and unchanged. */
import { type Command, Option } from "commander";
import { readHeads } from "../observability/audit-heads.ts";
import { isOwnKey } from "../storage/audit.ts";
import { findEntries, verifyAudit } from "../storage/audit-verify.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { asInstant, makePrintDate, parseDate } from "../values/time.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { makeProgress } from "./terminal.ts";

export function addAuditCommands(audit: Command): void {
  const filters = [
    new Option("--by <who>", "only of this person or node"),
    new Option("--action <word>", "only this action, or those that begin with it, like merchant"),
    new Option("--subject <text>", "only of this, like `merchant acme`"),
    new Option("--since <moment>", "only from then on, like 2030-01-31 or 2030-01-31T09:30:00Z"),
    new Option("--until <moment>", "only up to then"),
    new Option("--limit <n>", "so many, the latest").default("100"),
  ];
  const heads = new Option(
    "--heads <file>",
    "heads that were written outside (default: GW_AUDIT_HEAD_FILE)",
  );
  // biome-ignore format: a table
  addCommands(audit, [
    ["list",   "list entries: who, from where, what, before, after, why",                  list, filters],
    ["verify", "prove that no entry was changed, deleted, inserted or reordered; exit code 1 if one was", verify, [heads]],
  ]);
}

type Filters = Readonly<Record<"by" | "action" | "subject" | "since" | "until", string>> & {
  readonly limit: string;
};

async function list(session: Session, given: Partial<Filters>): Promise<Output> {
  const { since, until, limit = "100", ...filter } = given;
  if (!/^[1-9]\d{0,6}$/.test(limit)) return new Problem("--limit is a number from 1.");
  const [from, to] = [since, until].map((text) => text && parseDate(text));
  if ((since && !from) || (until && !to)) {
    return new Problem("A moment is written like 2030-01-31 or 2030-01-31T09:30:00Z.");
  }
  const rows = await findEntries(session.database.query, {
    ...filter,
    ...{ since: from || undefined, until: to || undefined, limit: Number(limit) },
  });
  const printDate = makePrintDate(session.config.zone);
  return rows.map(({ at, before, after, reason, ...entry }) => ({
    ...{ ...entry, at: printDate(asInstant(at)), why: reason ?? "" },
    before: session.json ? parse(before) : (before ?? ""),
    after: session.json ? parse(after) : (after ?? ""),
  }));
}

const parse = (json: string | null) => (json === null ? null : JSON.parse(json));

async function verify(session: Session, given: { readonly heads?: string }): Promise<Output> {
  const { config, database, openKnown } = session;
  const file = given.heads ?? config.auditHeadFile;
  const outside = await readOutside(file);
  if (outside instanceof Problem) return outside;
  const open = await openKnown();
  const { findings, ...counts } = await verifyAudit(database.query, {
    ...{ outside, report: makeProgress("entries") },
    isOwnKey: open && ((key) => isOwnKey(key, open)),
  });
  if (open === undefined) {
    process.stderr.write(
      "Without the key-encryption key, the signing key itself was not proved to be this " +
        "installation's.\n",
    );
  }
  if (findings.length > 0) process.exitCode = 1;
  if (session.json) return { ...counts, findings };
  const { entries, signatures, outsideHeads, unsigned, restores } = counts;
  return [
    ...restores,
    ...findings,
    `${entries} entries, ${signatures} signed heads, ${outsideHeads} heads from outside; ` +
      `${unsigned} entries since the last signature.`,
    findings.length === 0 ? "The audit is whole." : "The audit was tampered with.",
  ].join("\n");
}

async function readOutside(file: string) {
  if (file === "") return [];
  return readHeads(file).catch(
    (error) => new Problem(`The heads in ${file} cannot be read: ${messageOf(error)}.`),
  );
}
