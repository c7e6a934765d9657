/** Checks of `gw doctor` for the database: servers, durability, clocks, encryption and rights. */
import { lookup } from "node:dns/promises";
import { daysLeft } from "../../certificates/certificate-files.ts";
import { allows } from "../../config/config.ts";
import { listKeyAges } from "../../storage/cards/vault-keys.ts";
import { canReadVault, examineServer } from "../../storage/schema/database-roles.ts";
import { examineLink, examineRights } from "../../storage/schema/examine.ts";
import { examineServers } from "../../storage/server/connections.ts";
import { findSkew } from "../../storage/server/database-clock.ts";
import { listLinks } from "../../storage/server/database-url.ts";
import { systemClock } from "../../values/time.ts";
import type { MachineSession } from "../machine-command.ts";
import {
  type Check,
  type CheckResult,
  describeExpiry,
  inProduction,
  together,
  troubleUnless,
} from "./check.ts";

const postgresMin = 150_000;

export const databaseChecks: readonly Check[] = [
  [
    "servers",
    "which database servers answer, which of them takes writes, and their certificates",
    checkServers,
  ],
  ["version", "PostgreSQL 15 or newer", checkVersion],
  ["durability", "`fsync` and `synchronous_commit`", checkDurability],
  ["embedded", "the embedded database, which is for staging", checkEmbedded],
  ["clock", "this machine's clock against the database's", checkClock],
  [
    "encryption",
    "plain-text connections to the database or to a pooler before it",
    checkEncryption,
  ],
  ["login", "a login that is a superuser", checkLogin],
  ["public", "rights of all roles in the schema `public`", checkPublic],
  ["vault", "whether nodes can read the vault's tables", checkVault],
  ["keys", "the age of the vault's keys, and their cryptoperiods", checkKeys],
  ["audit rights", "whether nodes can change or delete entries of the audit", checkAuditRights],
];

async function checkServers({ databaseUrl, config }: MachineSession): Promise<CheckResult> {
  const servers = await examineServers(databaseUrl, config.databaseConnectMs);
  const states = servers.map(({ name, state }) => `${name} ${state}`);
  const what = `database servers: ${states.join(", ")}`;
  const now = systemClock.now();
  const ending = servers.map(({ name, certificate }) =>
    describeExpiry(
      `The certificate of the database server ${name}`,
      daysLeft(certificate?.toString(), now),
    ),
  );
  const writable = servers.filter(({ isWritable }) => isWritable).map(({ name }) => name);
  if (writable.length > 1) {
    return together(what, [
      ...ending,
      { troubles: [`${writable.join(" and ")} take writes: stop all but the primary.`] },
    ]);
  }
  const isUnreachable = ({ state, isWritable }: (typeof servers)[number]) =>
    !isWritable && state !== "read-only";
  const away = servers.some(isUnreachable) ? ["One of them cannot take over now."] : [];
  return together(what, [...ending, { warnings: away }]);
}

async function checkVersion({ database }: MachineSession): Promise<CheckResult> {
  const { version, number } = await examineServer(database.query);
  const what = `database: ${version.split(" on ")[0]}`;
  return troubleUnless(what, number >= postgresMin, "PostgreSQL 15 or newer is needed.");
}

async function checkDurability({ database }: MachineSession): Promise<CheckResult> {
  const { fsync, commit } = await examineServer(database.query);
  return troubleUnless(
    `durability: fsync ${fsync}, synchronous_commit ${commit}`,
    fsync === "on" && commit !== "off",
    "Acknowledged orders can be lost in a crash: switch both on.",
  );
}

async function checkEmbedded({ config }: MachineSession): Promise<CheckResult> {
  const isEmbedded = config.databaseUrl === "";
  const advice =
    "The embedded database has no standby and ends with the gateway: " +
    "set GW_DATABASE_URL to a PostgreSQL of your own.";
  return troubleUnless(
    `database: ${isEmbedded ? "embedded" : "your own"}`,
    !isEmbedded || config.environment === "staging",
    advice,
  );
}

async function checkClock({ database, config }: MachineSession): Promise<CheckResult> {
  const skewMs = await findSkew(database.query);
  return troubleUnless(
    `clock: ${Math.abs(skewMs)} ms ${skewMs < 0 ? "behind" : "ahead of"} the database's`,
    Math.abs(skewMs) <= config.clockSkewAlertMs,
    "Synchronise the clocks of all machines, those of standby databases above all: " +
      "nodes correct their own clocks by the database's.",
  );
}

async function checkEncryption(session: MachineSession): Promise<CheckResult> {
  const told = await examineLink(session.database.query);
  const isHidden = told !== "plain text" && (await leavesUnencrypted(session.databaseUrl));
  const what = `connection to the database: ${isHidden ? "plain text, to a pooler" : told}`;
  if (told !== "plain text" && !isHidden) return { what };
  const advice = "Add sslmode=verify-full and sslrootcert to GW_DATABASE_URL: orders and personal";
  const sentences = [`${advice} data cross the network unencrypted.`];
  const isAllowed = allows(session.config, "plain-database");
  return isAllowed ? { what, warnings: sentences } : inProduction(session, what, sentences);
}

/**
 * Returns whether the connection to the database leaves this machine unencrypted. Only the database
 * URL shows this, because a server behind a pooler knows only the pooler's connection.
 */
async function leavesUnencrypted(databaseUrl: string): Promise<boolean> {
  for (const { host, isEncrypted } of listLinks(databaseUrl)) {
    if (isEncrypted || host === "" || host.startsWith("/")) continue;
    const { address } = await lookup(host).catch(() => ({ address: host }));
    if (!/^(127\.|::1$)/.test(address)) return true;
  }
  return false;
}

async function checkLogin(session: MachineSession): Promise<CheckResult> {
  const { login, isSuperuser } = await examineRights(session.database.query);
  const what = `login: ${login}${isSuperuser ? ", a superuser" : ""}`;
  if (!isSuperuser) return { what };
  const advice = "it can change the audit and read files of the server";
  return inProduction(session, what, [
    `Give the gateway a login of its own that is no superuser (docs/operating.md): ${advice}.`,
  ]);
}

async function checkPublic({ database }: MachineSession): Promise<CheckResult> {
  const { publicCreates } = await examineRights(database.query);
  return troubleUnless(
    `schema public: ${publicCreates ? "every role may create in it" : "closed to other roles"}`,
    !publicCreates,
    "Another role of this database can put tables and functions in the gateway's way: " +
      "run revoke create on schema public from public.",
  );
}

/** Checks that nodes cannot read the vault's tables, over a connection with a node's rights. */
async function checkVault({ databases, vaultAdvice }: MachineSession): Promise<CheckResult> {
  const isClosed = !(await canReadVault(databases.node.query));
  const what = `vault: its tables are ${isClosed ? "closed" : "open"} to the gateway's statements`;
  return troubleUnless(what, isClosed, vaultAdvice ?? "Remove `options` from GW_DATABASE_URL.");
}

/** Nodes replace the pending card data's key daily, so an older one shows that no node runs. */
const pendingPeriodDays = 2;
/**
 * The commands that replace an old key, by the purpose of the key. Nodes replace the key of pending
 * card data themselves, and keys for other purposes protect no card data.
 */
const replacing: Readonly<Record<string, string>> = {
  cards: "gw key rotate",
  secrets: "gw key rotate",
  transfers: "gw key rotate",
  digests: "gw key rotate",
  fingerprints: "gw key rotate --fingerprints",
  "key-encryption": "gw key rewrap",
};

async function checkKeys({ database, config }: MachineSession): Promise<CheckResult> {
  const { cryptoperiodDays } = config;
  const ages = await listKeyAges(database.query);
  const periodOf = (purpose: string) => {
    if (purpose === "held") return pendingPeriodDays;
    return purpose in replacing && cryptoperiodDays > 0 ? cryptoperiodDays : undefined;
  };
  const told = [...ages].map(([purpose, days]) => {
    const period = periodOf(purpose);
    return `${purpose} ${days}${period === undefined ? "" : ` of ${period}`}`;
  });
  const warnings = [...ages].flatMap(([purpose, days]) => {
    if (days <= (periodOf(purpose) ?? days)) return [];
    const what = `The key ${purpose} is ${days} days old, longer than its cryptoperiod`;
    const command = replacing[purpose];
    return [command === undefined ? `${what}: is a node running?` : `${what}: run ${command}.`];
  });
  return { what: `keys, in days: ${told.join(", ")}`, warnings };
}

async function checkAuditRights({ databases, vaultAdvice }: MachineSession): Promise<CheckResult> {
  const { changesAudit } = await examineRights(databases.node.query);
  return troubleUnless(
    `audit: its entries ${changesAudit ? "can be changed" : "can only be added"} by nodes`,
    !changesAudit,
    vaultAdvice ?? "Start a node of this version: it takes the right away from its role.",
  );
}
