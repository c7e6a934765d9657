/**
 * Verifies the audit: the hash of every entry, the numbering without gaps, the head (the newest
 * hash), the signatures, and signed heads that were written to a file outside of the database.
 * Returns one sentence for each fault.
 */
import type { Query } from "../server/database.ts";
import {
  type AuditKey,
  type Head,
  hashEntry,
  isSignedBy,
  listAuditKeys,
  nameOfKey,
  type RestoreFacts,
  restoreText,
  type SignedHead,
  type StoredEntry,
  signedText,
} from "./audit.ts";

/** The entries in a page: few, because a node that verifies the audit also processes payments. */
const pageRows = 200;
const findingsMax = 50;

type Row = Omit<StoredEntry, "seq" | "at"> & {
  readonly seq: string;
  readonly at: string;
  readonly hash: string;
};

const entryColumns = `seq, round(extract(epoch from at) * 1000)::bigint as at, actor, origin,
  action, subject, reason, before::text, after::text, encode(hash, 'hex') as hash`;

type Verified = {
  readonly entries: number;
  readonly signatures: number;
  readonly outsideHeads: number;
  /** The number of entries after the newest signature, which nothing protects yet. */
  readonly unsigned: number;
  /** One sentence for each restore from a backup, with the entries that were lost by it. */
  readonly restores: readonly string[];
  readonly findings: readonly string[];
};

type ToVerify = {
  /** Returns whether the vault has sealed the audit key. Undefined if this cannot be verified. */
  readonly isOwnKey?: ((key: AuditKey) => boolean) | undefined;
  readonly outside: readonly SignedHead[];
  readonly report?: (entries: number) => void;
};

export async function verifyAudit(query: Query, given: ToVerify): Promise<Verified> {
  const findings: string[] = [];
  const find = (sentence: string) => {
    if (findings.length < findingsMax) findings.push(sentence);
  };
  const keys = await listAuditKeys(query);
  for (const key of keys) {
    if (given.isOwnKey?.(key) !== false) continue;
    find(`The signing key ${key.id} was not made by this installation.`);
  }
  const signed = await loadSignatures(query, keys, find);
  const outside = given.outside.filter((head) => {
    const key = keys.find(({ publicKey }) => nameOfKey(publicKey) === head.key);
    const isGood = key !== undefined && isSigned(key, head, Buffer.from(head.signature, "base64"));
    if (!isGood) find(`The outside head ${head.seq} is not signed by a key of this installation.`);
    return isGood;
  });
  const restores = await loadRestores(query, keys);
  const lost = outside.filter((head) => restores.some((restore) => isLostWith(restore, head)));
  const proved = [...signed, ...outside].filter((head) => !lost.some((each) => each === head));
  const last = await walk(
    query,
    Map.groupBy(proved, ({ seq }) => seq),
    find,
    given.report,
  );

  await checkHead(query, last, find);
  await checkBeginning(query, find);
  const highest = highestOf(proved);
  if (highest > last.seq) {
    find(`The entries ${last.seq + 1} to ${highest} are missing: their head was signed.`);
  }
  const newest = highestOf(signed);
  return {
    entries: last.seq,
    signatures: signed.length,
    outsideHeads: outside.length,
    unsigned: Math.max(0, last.seq - newest),
    restores: restores.map((restore) => describeRestore(restore, lost)),
    findings,
  };
}

type Restore = RestoreFacts & { readonly actor: string };

/** Loads the restores that `gw restore` has signed, which the database's owner cannot forge. */
async function loadRestores(query: Query, keys: readonly AuditKey[]): Promise<readonly Restore[]> {
  const rows = await query<{ actor: string; after: RestoreFacts & { signature?: string } }>(
    "select actor, after from audit where action = 'restore' and after is not null order by seq",
  );
  return rows.flatMap(({ actor, after: { signature = "", ...facts } }) => {
    const text = restoreText(facts);
    const isGenuine = keys.some((key) => isSignedBy(key, text, Buffer.from(signature, "base64")));
    return isGenuine ? { ...facts, actor } : [];
  });
}

/** Returns whether the signed entry is lost: it was made between the backup and the restore. */
function isLostWith({ auditSeq, restoredAt }: Restore, head: SignedHead): boolean {
  return head.seq > auditSeq && head.at < restoredAt;
}

function describeRestore(restore: Restore, lost: readonly SignedHead[]): string {
  const { actor, taken, auditSeq } = restore;
  const highest = highestOf(lost.filter((head) => isLostWith(restore, head)));
  const entries =
    highest === 0 ? "" : ` The entries ${auditSeq + 1} to ${highest} of then were lost with it.`;
  return `${actor} restored the backup of ${taken}.${entries}`;
}

function highestOf(heads: readonly Head[]): number {
  return heads.reduce((highest, { seq }) => Math.max(highest, seq), 0);
}

type Find = (sentence: string) => void;

async function walk(
  query: Query,
  proved: ReadonlyMap<number, readonly Head[]>,
  find: Find,
  report?: (entries: number) => void,
): Promise<Head> {
  let previous: Head = { seq: 0, hash: "" };
  for (let count = pageRows; count === pageRows; ) {
    const rows = await query<Row>(
      `select ${entryColumns} from audit where seq > $1 order by seq limit ${pageRows}`,
      [previous.seq],
    );
    for (const { hash, ...row } of rows) {
      const entry = { ...row, seq: Number(row.seq), at: Number(row.at) };
      const { seq } = entry;
      if (seq === previous.seq + 2) find(`The entry ${seq - 1} is missing.`);
      if (seq > previous.seq + 2)
        find(`The entries ${previous.seq + 1} to ${seq - 1} are missing.`);
      if (hashEntry(entry, previous.hash) !== hash) {
        find(`The entry ${seq} or the one before it was changed.`);
      }
      if (proved.get(seq)?.some((head) => head.hash !== hash)) {
        find(`The entry ${seq} is another than the one whose head was signed.`);
      }
      previous = { seq, hash };
    }
    count = rows.length;
    report?.(previous.seq);
  }
  return previous;
}

async function loadSignatures(query: Query, keys: readonly AuditKey[], find: Find) {
  const rows = await query<{ seq: string; hash: Buffer; key_id: number; signature: Buffer }>(
    "select seq, hash, key_id, signature from audit_signatures order by seq",
  );
  return rows.flatMap(({ key_id, signature, ...row }) => {
    const head = { seq: Number(row.seq), hash: row.hash.toString("hex") };
    const key = keys.find(({ id }) => id === key_id);
    if (key !== undefined && isSigned(key, head, signature)) return head;
    find(`The signature of head ${head.seq} is wrong.`);
    return [];
  });
}

function isSigned(key: AuditKey, head: Head, signature: Buffer): boolean {
  return isSignedBy(key, signedText(head), signature);
}

async function checkHead(query: Query, last: Head, find: Find): Promise<void> {
  const [row] = await query<{ seq: string; hash: Buffer }>("select seq, hash from audit_head");
  if (row === undefined) return find("The head of the audit is missing.");
  const isLast = Number(row.seq) === last.seq && row.hash.toString("hex") === last.hash;
  if (!isLast) find(`The head names the entry ${row.seq}, and the last entry is ${last.seq}.`);
}

async function checkBeginning(query: Query, find: Find): Promise<void> {
  const strange = await query("select from audit where seq < 1 limit 1");
  if (strange.length > 0) find("There is an entry before the first.");
}

export type EntryFilter = {
  readonly by?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  /** A text that the actor, the action, the subject or the reason must contain. */
  readonly search?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Lists only entries with lower numbers than this. */
  readonly before?: number | undefined;
  readonly limit: number;
  /** The highest number of entries that one search examines. Undefined means all. */
  readonly most?: number | undefined;
};

/** Returns the last entry that a limited search has examined, where the next one continues. */
export async function findLookedAt(query: Query, { before, most }: EntryFilter) {
  const [row] = await query<{ seq: string; at: number }>(
    `select seq, round(extract(epoch from at) * 1000)::float8 as at from audit
     where seq > 1 and ($1::bigint is null or seq < $1) order by seq desc offset $2 limit 1`,
    [before ?? null, (most ?? 1) - 1],
  );
  return row && { seq: Number(row.seq), at: row.at };
}

/** Returns the latest entries that match, sorted from the oldest to the newest. */
export async function findEntries(query: Query, filter: EntryFilter) {
  const rows = await query<Row>(
    `select * from (
       select ${entryColumns} from (
         select * from audit where ($7::bigint is null or seq < $7)
         order by seq desc limit $9
       ) as looked
       where ($1::text is null or actor = $1)
         and ($2::text is null or starts_with(action, $2)) and ($3::text is null or subject = $3)
         and ($4::float8 is null or at >= to_timestamp($4::float8 / 1000))
         and ($5::float8 is null or at <= to_timestamp($5::float8 / 1000))
         and ($8::text is null
           or strpos(lower(concat_ws(' ', actor, action, subject, reason)), lower($8)) > 0)
       order by seq desc limit $6
     ) as latest order by seq`,
    [
      ...[filter.by, filter.action, filter.subject, filter.since, filter.until, filter.limit],
      ...[filter.before, filter.search, filter.most],
    ],
  );
  return rows.map(({ hash: _, seq, at, ...row }) => ({ seq: Number(seq), at: Number(at), ...row }));
}
