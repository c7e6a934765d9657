/**
 * `gw restore --verify` and `gw restore verify` check that a restored installation is correct: the
 * audit, a sample of cards of each key, and the orders of all cells against the main database. `gw
 * restore --verify` also compares the row counts with the backup.
 */
import { openVault, readConfiguration } from "../administration/session.ts";
import type { Loaded } from "../backup/backup.ts";
import type { Installation } from "../installation/installation.ts";
import { noteVerified } from "../storage/backup/installation-hold.ts";
import {
  findNextId,
  findStrayMerchants,
  hasAuditEntry,
  hasOrdersFrom,
  listCardKeysInUse,
  sampleCards,
} from "../storage/backup/restore-target.ts";
import { countRows } from "../storage/backup/table-copies.ts";
import { listMoves } from "../storage/cells/move-merchant.ts";
import { isOwnKey } from "../storage/people/audit.ts";
import { verifyAudit } from "../storage/people/audit-verify.ts";
import type { Database } from "../storage/server/database.ts";
import { messageOf } from "../values/problem.ts";

export type VerifiedRestore = {
  readonly rows: number;
  readonly entries: number;
  readonly keys: number;
  readonly cards: number;
  readonly findings: readonly string[];
};

/** The restore itself adds rows to these tables, so they may have more rows than the backup. */
const growing = ["public.audit", "public.audit_signatures", "public.migrations"];
const cardsOfKey = 20;

export async function verifyInstallation(
  installation: Installation,
  loaded?: Loaded,
): Promise<VerifiedRestore> {
  const findings: string[] = [];
  const find = (sentence: string) => void findings.push(sentence);
  const { database, cells } = installation;
  const rows = loaded === undefined ? 0 : await checkCounts(database, loaded, find);
  const entries = await checkAudit(installation, loaded, find);
  const opened = await checkVault(installation, find);
  const moves = await listMoves({ main: database, cells });
  for (const { login, from, to, state } of moves) {
    if (state !== "stopped") continue;
    find(`${login} is stopped between the cells ${from} and ${to}: see \`gw cell list\`.`);
  }
  await checkCells(installation, find);
  if (findings.length === 0) await noteVerified(database.query);
  return { rows, entries, ...opened, findings };
}

type Find = (sentence: string) => void;

async function checkCounts({ query }: Database, { contents, manifest }: Loaded, find: Find) {
  let all = 0;
  for (const { cell, tables } of contents.places) {
    for (const table of tables) {
      const name = `${table.schema}.${table.name}`;
      const expected = manifest.tables.find((each) => each.cell === cell && each.table === name);
      const count = await countRows(query, table);
      const isRight = growing.includes(name)
        ? count >= (expected?.rows ?? 0)
        : count === expected?.rows;
      if (!isRight) find(`${name} has ${count} rows, and the backup has ${expected?.rows}.`);
      all += count;
    }
  }
  return all;
}

async function checkAudit(installation: Installation, loaded: Loaded | undefined, find: Find) {
  const { database } = installation;
  const { openSecret } = await openVault(installation);
  const verified = await verifyAudit(database.query, {
    isOwnKey: (key) => isOwnKey(key, openSecret),
    outside: [],
  });
  for (const sentence of verified.findings) find(sentence);
  if (loaded === undefined || loaded.manifest.audit.seq === 0) return verified.entries;
  const { seq, hash } = loaded.manifest.audit;
  const isThere = await hasAuditEntry(database.query, seq, hash);
  if (!isThere) find(`The entry ${seq} of the audit is not the backup's.`);
  return verified.entries;
}

/** Decrypts all secrets of the configuration, and in each cell a sample of cards for each key. */
async function checkVault(installation: Installation, find: Find) {
  const { findCard } = await openVault(installation);
  await readConfiguration(installation).catch((error) => find(`${messageOf(error)}.`));
  const keys = new Set<number>();
  let cards = 0;
  for (const name of installation.cells.names()) {
    const { query } = installation.cells.databasesOf(name).vault;
    for (const key of await listCardKeysInUse(query)) {
      keys.add(key);
      for (const { merchantId, cardId } of await sampleCards(query, key, cardsOfKey)) {
        const card = await findCard(merchantId, cardId).catch(messageOf);
        if (typeof card === "string" || card === undefined) {
          find(`The card ${merchantId}/${cardId} of the cell ${name} does not open: ${card}.`);
        } else {
          cards += 1;
        }
      }
    }
  }
  return { keys: keys.size, cards };
}

/** Checks that the main database knows the merchants and the order ids of all cells. */
async function checkCells({ database, cells }: Installation, find: Find): Promise<void> {
  const next = await findNextId(database.query);
  for (const name of cells.names()) {
    const { query } = cells.databasesOf(name).node;
    const strays = await findStrayMerchants(database.query, query);
    for (const id of strays) find(`The cell ${name} has orders of the unknown merchant ${id}.`);
    if (await hasOrdersFrom(query, next))
      find(`The cell ${name} has orders beyond the sequence of ids.`);
  }
}
