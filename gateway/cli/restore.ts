/**
 * `gw restore` loads a backup into an empty database. Its subcommands are the steps that follow
 * until payments continue. Until the last step, the restored installation is on hold and sends
 * nothing (decision 0050).
 */
import { Readable } from "node:stream";
import { flag, option } from "../administration/field.ts";
import { makeReport, stale } from "../administration/installation/operator-events.ts";
import {
  type Output,
  openVault,
  readConfiguration,
  readContent,
} from "../administration/session.ts";
import { BadArchive, decrypt, parseIdentities, readParts } from "../backup/archive.ts";
import { readBackup } from "../backup/backup.ts";
import { readConfig } from "../config/config.ts";
import {
  describeUnusable,
  findServer,
  makeDataFolder,
  openAs,
} from "../installation/database-server.ts";
import { openInstallation } from "../installation/installation.ts";
import { deleteGivenKeys, findMasterKey } from "../installation/master-key.ts";
import {
  comparedDay,
  findHold,
  type Hold,
  putOnHold,
  releaseHold,
} from "../storage/backup/installation-hold.ts";
import {
  NotRestorable,
  openRestoreTarget,
  refuseFilled,
} from "../storage/backup/restore-target.ts";
import { makeKeyStore } from "../storage/cards/vault-keys.ts";
import { findOpenPages, listOrdersBefore } from "../storage/orders/find-orders.ts";
import { openSigner, restoreText } from "../storage/people/audit.ts";
import { findReconciliation } from "../storage/portal/reconciliations.ts";
import { approveAll } from "../storage/schema/migrate.ts";
import { makeServers } from "../storage/server/connections.ts";
import type { Query } from "../storage/server/database.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId } from "../values/ids.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import { asInstant, calendar, hours, type Instant, later, systemClock } from "../values/time.ts";
import { openKeys, WrongMasterKey } from "../vault/keys.ts";
import { makeVault } from "../vault/vault.ts";
import { installed, type MachineSession, ownCommand } from "./machine-command.ts";
import { type VerifiedRestore, verifyInstallation } from "./restore-verify.ts";
import { ask, makeProgressLines } from "./terminal.ts";

export const restoreCommands = [
  ownCommand({
    name: "restore",
    showsProgress: true,
    fields: {
      from: option("file", "file", ["the backup, or - for standard input"]),
      identityFile: option("file", "file", [
        "the private key of age, as gw backup identity makes it",
      ]),
      verify: flag(["then prove counts, audit, keys, cards and numbers"]),
    },
    async run({ from, identityFile, verify: verifies }) {
      if (from === undefined || identityFile === undefined) {
        return new Problem("Give --from <file> and --identity-file <file>.");
      }
      const decrypter = parseIdentities(new Secret(await readContent(identityFile)));
      if (decrypter instanceof Problem) return decrypter;
      const environment = { ...process.env };
      deleteGivenKeys(process.env);
      const encrypted = Readable.from(from.open(), { objectMode: false });
      return load(environment, readParts(decrypt(decrypter, encrypted)), verifies === true);
    },
  }),
  installed("look", "see_configuration", {
    name: "restore status",
    does: ["tell whether the installation is on hold, why, and what is left to do"],
    async perform(session) {
      const found = await findHold(session.database.query);
      if (found === undefined) return { hold: "none" };
      const { printDate } = session;
      const { why, since, verifiedAt, reconciled } = found;
      return {
        hold: why,
        since: printDate(since),
        verified: verifiedAt === undefined ? "no" : printDate(verifiedAt),
        reconciled: reconciled.join(", ") || "none",
        "not reconciled": (await listUncompared(session, found)).join(", ") || "none",
      };
    },
  }),
  installed("change", "operate", {
    name: "restore hold",
    does: ["put the installation on hold: for a copy that another program has restored"],
    async perform({ audit, database }) {
      if ((await findHold(database.query)) !== undefined) {
        return new Problem("The installation is on hold already.");
      }
      await putOnHold(audit, "an operator has put it on hold");
      return "The installation is on hold: its nodes answer the status of orders and send nothing.";
    },
  }),
  installed("change", "operate", {
    name: "restore verify",
    does: ["prove audit, keys, cards and numbers; exit code 1 if one is wrong"],
    showsProgress: true,
    async perform(session) {
      const verified = await verifyInstallation(session);
      const after = { findings: verified.findings.length, cards: verified.cards };
      await session.audit.write({ action: "restore verify", subject: "installation", after });
      return describe(verified);
    },
  }),
  installed("change", "operate", {
    name: "restore release",
    does: ["let the nodes go on, after `gw restore verify` and `gw reconcile`"],
    fields: {
      unreconciled: flag(["although the books of some gates were not compared"]),
      yes: flag(["although the books differ, without asking"]),
    },
    async perform(session, { unreconciled, yes }) {
      const { database, audit } = session;
      const found = await findHold(database.query);
      if (found === undefined) return new Problem("The installation is not on hold.");
      if (found.verifiedAt === undefined) {
        return new Problem("It was not verified, or something was wrong: run `gw restore verify`.");
      }
      const left = await listUncompared(session, found);
      if (left.length > 0 && !unreconciled) {
        return new Problem(
          `The books of ${left.join(", ")} were not compared since the restore: run ` +
            "`gw reconcile` for each, settle what differs, or give --unreconciled and --why.",
        );
      }
      const differences = await listDifferences(session, found);
      if (differences.length > 0) {
        process.stderr.write(`The books of these days differ:\n${differences.join("\n")}\n`);
        if (!yes && !(await ask("Release the installation all the same?"))) {
          return new Problem(
            "Nothing was changed: settle what differs, or answer yes or give --yes.",
          );
        }
      }
      const pages = await closePages(session);
      await releaseHold(database, audit, { unreconciled: left, pagesEnded: pages });
      const ended = pages === 0 ? "" : ` ${pages} open payment pages take no further card.`;
      return `Released: the nodes go on with payments, reversals and callbacks.${ended}`;
    },
  }),
];

type Environment = Readonly<Record<string, string | undefined>>;

/** An embedded database server is started for this command and stopped at its end. */
async function load(
  environment: Environment,
  parts: ReturnType<typeof readParts>,
  verifies: boolean,
): Promise<Output> {
  const config = readConfig(environment);
  if (config instanceof Problem) return config;
  const blocked = await makeDataFolder(config);
  if (blocked !== undefined) return blocked;
  const masterKey = await findMasterKey(config, environment);
  if (masterKey instanceof Problem) return masterKey;
  const server = await findServer(config, { report, besideOthers: false });
  if (server instanceof Problem) return server;
  const servers = makeServers(server.url);
  const patient = { ...config, databaseStatementMs: 0 };
  const database = openAs(undefined, servers, patient);
  try {
    const filled = await refuseFilled(database.query).catch((e) => describeUnusable(config, e));
    if (filled !== undefined) return filled;
    const target = await openRestoreTarget({
      database,
      rehearsal: config.rehearsal,
      openSchema: (cell) => openAs(undefined, servers, patient, { name: cell }),
      async openSecrets(query: Query) {
        const keys = await openKeys(masterKey, makeKeyStore(query));
        return makeVault(keys, async () => undefined).openSecret;
      },
    });
    const loaded = await fill(target, parts).finally(() => target.close());
    return loaded instanceof Problem ? loaded : await finish(environment, loaded, verifies);
  } finally {
    await database.close();
    await server.stop();
  }
}

type Filled = Awaited<ReturnType<typeof readBackup>>;

async function fill(
  target: Awaited<ReturnType<typeof openRestoreTarget>>,
  parts: ReturnType<typeof readParts>,
): Promise<Filled | Problem> {
  try {
    const tell = makeProgressLines();
    const loaded = await readBackup(parts, {
      target,
      report: (table, rows) => tell(() => `${table}: ${rows} rows`),
    });
    const taken = calendar(asInstant(loaded.contents.takenAt)).iso;
    await target.commit(`restored from the backup of ${taken}`);
    return loaded;
  } catch (error) {
    if (error instanceof NotRestorable) return new Problem(error.message);
    if (error instanceof WrongMasterKey) {
      return new Problem(
        "The key-encryption key (GW_MASTER_KEY_FILE) is not the one that this backup needs. " +
          "Nothing was restored.",
      );
    }
    const what = error instanceof BadArchive ? "This backup cannot be used" : "The restore failed";
    return new Problem(`${what}: ${messageOf(error)}. Nothing was restored.`);
  }
}

async function finish(environment: Environment, loaded: Filled, verifies: boolean) {
  const place = { environment, report, besideOthers: true, approve: approveAll };
  const installation = await openInstallation(place);
  if (installation instanceof Problem) return installation;
  try {
    const { contents, manifest, digest } = loaded;
    const rows = manifest.tables.reduce((sum, each) => sum + each.rows, 0);
    const taken = calendar(asInstant(contents.takenAt)).iso;
    const signer = await openSigner(installation.database.query, await openVault(installation));
    const restoredAt = systemClock.now();
    const stated = { taken, manifest: digest, auditSeq: manifest.audit.seq, restoredAt };
    const signature = signer.signText(restoreText(stated)).toString("base64");
    const after = { ...stated, signature, rows, version: contents.version };
    await installation.audit.write({ action: "restore", subject: "installation", after });
    const facts = { restored: "on hold", "taken at": taken, rows, manifest: digest };
    if (!verifies) return { ...facts, next: "gw restore verify" };
    return { ...facts, ...describe(await verifyInstallation(installation, loaded)) };
  } finally {
    await installation.close();
  }
}

function describe({ findings, rows: _, entries, keys, cards }: VerifiedRestore) {
  if (findings.length > 0) process.exitCode = 1;
  return {
    verified: findings.length === 0 ? "yes" : "no",
    "audit entries": entries,
    "keys of cards": keys,
    "cards opened": cards,
    ...(findings.length > 0 && { findings: findings.join("\n") }),
  };
}

function report(progress: string): void {
  process.stderr.write(`${progress}\n`);
}

/**
 * Lists the gates and days whose payments still have to be compared with the acquirer's books: the
 * days from the restored database's latest order until the installation was put on hold. Gates
 * without an endpoint are left out, because they have no payments in flight.
 */
async function listUncompared(session: MachineSession, { since, reconciled }: Hold) {
  const latest = await session.cells
    .stores(({ node }) => node.query)
    .each((query) => listOrdersBefore(query, undefined, 1));
  const known = latest.flat().map(({ acceptedAt }) => acceptedAt);
  const days = daysBetween(known.length === 0 ? since : asInstant(Math.max(...known)), since);
  const { endpoints, gates } = await readConfiguration(session);
  const used = new Set([...endpoints.values()].flatMap((each) => each.gates.map(({ id }) => id)));
  const names = [...gates.values()].filter(({ id }) => used.has(id)).map(({ name }) => name);
  const needed = names.flatMap((name) => days.map((day) => comparedDay(name, day)));
  return needed.filter((each) => !reconciled.includes(each));
}

/**
 * Returns the UTC days between two moments, with the first and the last day. If the second moment
 * is earlier, because the clock was set back, only the first day is returned.
 */
function daysBetween(from: Instant, until: Instant): readonly string[] {
  const [first, last] = [from, until].map((instant) => Math.floor(instant / dayMs));
  const count = Math.max(0, (last ?? 0) - (first ?? 0)) + 1;
  return Array.from({ length: count }, (_, index) =>
    calendar(later(from, index * dayMs)).iso.slice(0, 10),
  );
}

const dayMs = hours(24);

/** Lists what `gw reconcile` has found since the installation was put on hold. */
async function listDifferences({ database }: MachineSession, { reconciled }: Hold) {
  const lines: string[] = [];
  for (const each of reconciled) {
    const [gate = "", day = ""] = each.split(" ");
    const found = await findReconciliation(database.query, { gate, day, way: null });
    const differences = found?.result.differences ?? [];
    if (found?.agrees === false && differences.length === 0) lines.push(`${each}: the totals`);
    for (const { kind, reference, here = "nothing", there = "nothing" } of differences) {
      lines.push(`${each}: ${kind}, reference ${reference}, here ${here}, there ${there}`);
    }
  }
  return lines;
}

const pagesAtOnce = 500;

/**
 * Closes all open payment pages. A cardholder may have paid on one of them after the backup was
 * made: the restored database does not know that charge, and a further try would use its reference
 * again. While the installation is on hold, no node changes these orders.
 */
async function closePages(session: MachineSession): Promise<number> {
  const { endpoints } = await readConfiguration(session);
  const report = makeReport(session, (endpoint) => endpoints.get(endpoint));
  const stores = session.cells.stores(({ node }) => node.query);
  const cause = "the installation was restored";
  // If a cell is unreachable, the command fails and the installation stays on hold, because
  // cardholders who have paid after the backup could pay again on that cell's open payment pages.
  const counts = await stores.inTurn(async (query) => {
    let [count, after] = [0, asOrderId("0")];
    for (;;) {
      const open = await findOpenPages(query, after, pagesAtOnce);
      for (const order of open) {
        const closed = await report(order, { kind: "page_closed", cause });
        if (closed === stale) throw new Error(`order ${order.id} has moved on: try again`);
        if (!(closed instanceof Failure)) count += 1;
        after = order.id;
      }
      if (open.length < pagesAtOnce) return count;
    }
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
