/** The audit: its entries for the command line and the portal, and the proof of completeness. */
import { readHeads } from "../../observability/audit-heads.ts";
import { isOwnKey } from "../../storage/people/audit.ts";
import {
  type EntryFilter,
  findEntries,
  findLookedAt,
  verifyAudit,
} from "../../storage/people/audit-verify.ts";
import type { Query } from "../../storage/server/database.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { asInstant } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { onlyOnCommandLine, option, preset } from "../field.ts";
import { findLimitFault } from "../find.ts";
import { leavesOf, printMoment } from "../moments.ts";
import { readInstant } from "../readers.ts";
import { type Lines, Report } from "../session.ts";

export const auditActions: readonly Action[] = [
  action("look", "see_audit", {
    name: "audit list",
    does: ["list entries: who, from where, what, before, after, why"],
    commandLineOnly: "the portal lists the audit on a screen of its own",
    fields: {
      by: option("text", "who", ["only of this person or node"]),
      action: option("text", "word", [
        "only this action, or those that begin with it, like merchant",
      ]),
      subject: option("text", "text", ["only of this, like `merchant acme`"]),
      search: option("text", "text", ["only with this in who, what, of what or why"]),
      since: option("moment", "moment", [
        "only from this moment on, like 2030-01-31 or 2030-01-31T09:30:00Z",
      ]),
      until: option("moment", "moment", ["only up to this moment"]),
      limit: preset("whole", "n", "100", ["how many, the latest first"]),
    },
    async perform({ database, printDate }, { since, until, limit: most, ...filter }) {
      const from = findLimitFault(most) ?? readInstant(since);
      const to = readInstant(until);
      if (from instanceof Problem) return from;
      if (to instanceof Problem) return to;
      const wanted = { ...filter, since: from, until: to, limit: Number(most) };
      const { entries } = await listAudit(database.query, wanted);
      const lines = entries.toReversed().map(({ at, reason, before, after, ...entry }) => ({
        line: { ...entry, at: printDate(asInstant(at)), why: reason ?? "" },
        before,
        after,
      }));
      return new Report(
        lines.map(({ line, before, after }) => ({
          ...line,
          before: parse(before),
          after: parse(after),
        })),
        lines.map(printEntry).join("\n"),
      );
    },
  }),
  action("look", "see_audit", {
    name: "audit verify",
    does: [
      "prove that no entry was changed, deleted, inserted or reordered; exit code 1 if one was",
      "beweisen, dass kein Eintrag geändert, gelöscht, eingefügt oder umgestellt wurde",
    ],
    duration: "minutes",
    fields: {
      heads: onlyOnCommandLine(
        option("path", "file", ["heads that were written outside (default: GW_AUDIT_HEAD_FILE)"]),
      ),
    },
    async perform(session, given) {
      const { config, database, openKnown } = session;
      const outside = await readOutside(given.heads ?? config.auditHeadFile);
      if (outside instanceof Problem) return outside;
      const open = await openKnown();
      const verified = await verifyAudit(database.query, {
        outside,
        report: session.progress("entries"),
        isOwnKey: open && ((key) => isOwnKey(key, open)),
      });
      if (open === undefined) {
        session.warn(
          "Without the key-encryption key, the signing key itself was not proved to be this " +
            "installation's.",
        );
      }
      const { entries, signatures, outsideHeads, unsigned, restores, findings } = verified;
      if (findings.length > 0) session.findings.note();
      return new Report(
        verified,
        [
          ...restores,
          ...findings,
          `${entries} entries, ${signatures} signed heads, ${outsideHeads} heads from outside; ` +
            `${unsigned} entries since the last signature.`,
          findings.length === 0 ? "The audit is whole." : "The audit was tampered with.",
        ].join("\n"),
      );
    },
  }),
];

/** The latest entry comes first. `next` is the number at which the next page begins. */
export async function listAudit(query: Query, filter: EntryFilter) {
  const found = await findEntries(query, filter);
  const entries = found.toReversed().map(({ reason, before, after, ...entry }) => ({
    ...entry,
    ...(reason === null ? {} : { reason }),
    ...(before === null ? {} : { before }),
    ...(after === null ? {} : { after }),
  }));
  const isWhole = entries.length === filter.limit;
  const isSearch = filter.most !== undefined && !isWhole;
  const end = isSearch ? await findLookedAt(query, filter) : undefined;
  const last = isWhole ? entries.at(-1) : end;
  return {
    entries,
    ...(last && { next: String(last.seq) }),
    ...(end && { searchedTo: end.at }),
  };
}

type Entry = {
  readonly line: Lines;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
};

function printEntry({ line, before, after }: Entry): string {
  const { seq, at, actor, origin, action: done, subject, why } = line;
  const [old, present] = [before, after].map((state) => new Map(leavesOf(parse(state))));
  const names = new Set([...(old?.keys() ?? []), ...(present?.keys() ?? [])]);
  const changes = [...names].flatMap((name) => {
    const [from, to] = [old, present].map((leaves) => leaves?.get(name) ?? "none");
    return from === to ? [] : [`${name}: ${from} -> ${to}`];
  });
  const head = `${seq}  ${at}  ${actor} (${origin})  ${done}  ${subject}`;
  return printMoment(head, [...(why === "" ? [] : [`why: ${why}`]), ...changes]);
}

function parse(json: string | undefined): unknown {
  return json === undefined ? null : JSON.parse(json);
}

async function readOutside(file: string) {
  if (file === "") return [];
  return readHeads(file).catch(
    (error) => new Problem(`The heads in ${file} cannot be read: ${messageOf(error)}.`),
  );
}
