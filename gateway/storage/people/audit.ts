/**
 * The audit (decision 0046): who changed what, from where, before and after, and why; and who saw
 * card data. An entry commits with its change, and its hash covers the entry and the previous hash.
 * The newest hash, the head, is signed.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign as signWith,
  verify as verifyWith,
} from "node:crypto";
import { Secret } from "../../values/secret.ts";
import type { Vault } from "../../vault/vault.ts";
import type { Database, Query } from "../server/database.ts";

export type Actor = { readonly who: string; readonly from: string; readonly why?: string };

export type AuditEntry = {
  readonly action: string;
  /** The object that was changed or shown, without any person's name, card number or secret. */
  readonly subject: string;
  readonly before?: object | undefined;
  readonly after?: object | undefined;
};

export function refusalEntry(subject: string, right: string): AuditEntry {
  return { action: "command refused", subject, after: { right } };
}

type WriteEntry = (entry: AuditEntry) => Promise<void>;

export type Audit = {
  /** Performs a change and writes its audit entries in the same transaction. */
  change<Result>(work: (query: Query, write: WriteEntry) => Promise<Result>): Promise<Result>;
  together<Result>(work: (audit: Audit) => Promise<Result>): Promise<Result>;
  /** Writes an entry for work without a database transaction, or for data that was shown. */
  write: WriteEntry;
};

export type Head = { readonly seq: number; readonly hash: string };
export type SignedHead = Head & {
  readonly at: number;
  readonly key: string;
  readonly signature: string;
};
export type Signer = {
  readonly keyId: number;
  /** The name of the signing key: the SHA-256 of its public key. */
  readonly name: string;
  sign(head: Head): Buffer;
  /** The text begins with the kind of the signed object, so no signature fits another kind. */
  signText(text: Buffer): Buffer;
};

type AuditOptions = {
  readonly actor: Actor;
  /** Signs the newest hash after each change. If it is missing, a node signs the hash later. */
  readonly signer?: Signer | undefined;
  /** Called with the newest hash and its signature after the transaction has committed. */
  readonly publish?: ((head: SignedHead) => Promise<void>) | undefined;
};

type Run = <Result>(work: (query: Query) => Promise<Result>) => Promise<Result>;

export function makeAudit(database: Pick<Database, "transaction">, options: AuditOptions): Audit {
  const { actor, signer, publish } = options;
  return bindAudit(actor, async (work) => {
    let signed: SignedHead | undefined;
    const result = await database.transaction(async (query) => {
      // The newest hash is locked before the change, so that two changes cannot block each other.
      const { seq } = await lockHead(query);
      const done = await work(query);
      const head = await lockHead(query);
      if (signer !== undefined && head.seq > seq) signed = await signHead(query, signer, head);
      return done;
    });
    if (signed !== undefined) await publish?.(signed);
    return result;
  });
}

function bindAudit(actor: Actor, run: Run): Audit {
  return {
    change: (work) => run((query) => work(query, (entry) => append(query, actor, entry))),
    together: (work) => run((query) => work(bindAudit(actor, (inner) => inner(query)))),
    write: (entry) => run((query) => append(query, actor, entry)),
  };
}

type LockedHead = Head & { readonly now: number };

async function lockHead(query: Query): Promise<LockedHead> {
  const [row] = await query<{ seq: string; hash: Buffer; now: string }>(
    `select seq, hash, (extract(epoch from clock_timestamp()) * 1000)::bigint as now
     from audit_head for update`,
  );
  if (row === undefined) throw new Error("the audit has no head");
  return { seq: Number(row.seq), hash: row.hash.toString("hex"), now: Number(row.now) };
}

/** An entry as it is stored and hashed. The states before and after are JSON text. */
export type StoredEntry = {
  readonly seq: number;
  readonly at: number;
  readonly actor: string;
  readonly origin: string;
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly before: string | null;
  readonly after: string | null;
};

export function hashEntry(entry: StoredEntry, previous: string): string {
  const { seq, at, actor, origin, action, subject, reason, before, after } = entry;
  const covered = [previous, seq, at, actor, origin, action, subject, reason, before, after];
  return createHash("sha256").update(JSON.stringify(covered)).digest("hex");
}

async function append(query: Query, actor: Actor, entry: AuditEntry): Promise<void> {
  const head = await lockHead(query);
  if (head.seq === 0) {
    await insert(query, actor, { action: "audit begin", subject: "audit" }, head);
    return append(query, actor, entry);
  }
  await insert(query, actor, entry, head);
}

async function insert(
  query: Query,
  { who, from, why }: Actor,
  { action, subject, before, after }: AuditEntry,
  head: LockedHead,
): Promise<void> {
  const text = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
  const stored: StoredEntry = {
    seq: head.seq + 1,
    at: head.now,
    actor: who,
    origin: from,
    action,
    subject,
    reason: why ?? null,
    before: text(before),
    after: text(after),
  };
  const hash = Buffer.from(hashEntry(stored, head.hash), "hex");
  await query(
    `insert into audit
       (seq, at, actor, origin, action, subject, reason, before, after, hash)
     values ($1, to_timestamp($2::float8 / 1000), $3, $4, $5, $6, $7, $8, $9, $10)`,
    [...Object.values(stored), hash],
  );
  await query("update audit_head set seq = $1, hash = $2", [stored.seq, hash]);
}

export type RestoreFacts = {
  readonly taken: string;
  readonly manifest: string;
  /** The number of the last entry of the audit that the backup contains. */
  readonly auditSeq: number;
  readonly restoredAt: number;
};

/** The text that `gw restore` signs, to prove why audit entries after the backup are missing. */
export function restoreText({ taken, manifest, auditSeq, restoredAt }: RestoreFacts): Buffer {
  return Buffer.from(`tollgate restore\n${taken}\n${manifest}\n${auditSeq}\n${restoredAt}`);
}

export const auditKeyContext = "audit-key/signing";

type KeyVault = Pick<Vault, "sealSecret" | "openSecret">;

export async function openSigner(query: Query, vault: KeyVault): Promise<Signer> {
  const [newest] = await listAuditKeys(query, "where retired_at is null");
  if (newest === undefined) {
    const made = generateKeyPairSync("ed25519");
    const der = made.publicKey.export({ format: "der", type: "spki" });
    const pem = made.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    await query(
      "insert into audit_keys (public_key, sealed) values ($1, $2) on conflict do nothing",
      [der, vault.sealSecret(new Secret(pem), auditKeyContext)],
    );
    return openSigner(query, vault);
  }
  const { id: keyId, sealed } = newest;
  const privateKey = createPrivateKey(vault.openSecret(sealed, auditKeyContext).reveal());
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return {
    keyId,
    name: nameOfKey(publicKey),
    sign: (head) => signWith(null, signedText(head), privateKey),
    signText: (text) => signWith(null, text, privateKey),
  };
}

export type AuditKey = { readonly id: number; readonly publicKey: Buffer; readonly sealed: Buffer };

export function listAuditKeys(query: Query, where = ""): Promise<readonly AuditKey[]> {
  return query<AuditKey>(
    `select id, public_key as "publicKey", sealed from audit_keys ${where} order by id`,
  );
}

/** Returns whether the public key belongs to the private key that the vault has sealed. */
export function isOwnKey({ publicKey, sealed }: AuditKey, open: Vault["openSecret"]): boolean {
  try {
    const key = createPublicKey(open(sealed, auditKeyContext).reveal());
    return key.export({ format: "der", type: "spki" }).equals(publicKey);
  } catch {
    return false;
  }
}

export function isSignedBy({ publicKey }: AuditKey, text: Buffer, signature: Buffer): boolean {
  try {
    const key = createPublicKey({ key: publicKey, format: "der", type: "spki" });
    return verifyWith(null, text, key, signature);
  } catch {
    return false;
  }
}

export function nameOfKey(publicKey: Uint8Array): string {
  return createHash("sha256").update(publicKey).digest("hex");
}

export function signedText({ seq, hash }: Head): Buffer {
  return Buffer.from(`tollgate-audit-head\n${seq}\n${hash}`);
}

/** Signs the newest hash of the audit for commands that write entries but have no signing key. */
export async function signAndPublish(
  database: Pick<Database, "transaction" | "query">,
  signer: Signer,
  publish: (head: SignedHead) => Promise<void>,
): Promise<void> {
  const head = await signNewest(database, signer);
  if (head !== undefined) await publish(head);
}

/** Returns undefined if the newest hash of the audit is signed already, or the audit is empty. */
export async function signNewest(
  database: Pick<Database, "transaction" | "query">,
  signer: Signer,
): Promise<SignedHead | undefined> {
  const [newest] = await database.query<{ seq: string; is_signed: boolean }>(
    `select seq, exists (select from audit_signatures as each where each.seq = audit_head.seq)
       as is_signed from audit_head`,
  );
  if (newest === undefined || newest.seq === "0" || newest.is_signed) return undefined;
  return database.transaction(async (query) => signHead(query, signer, await lockHead(query)));
}

async function signHead(query: Query, signer: Signer, head: LockedHead): Promise<SignedHead> {
  const { seq, hash, now } = head;
  const signature = signer.sign(head);
  await query(
    `insert into audit_signatures (seq, hash, key_id, signature) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [seq, Buffer.from(hash, "hex"), signer.keyId, signature],
  );
  return { seq, hash, at: now, key: signer.name, signature: signature.toString("base64") };
}
