/**
 * The checks of `gw doctor` for the running installation: reasons that prevent a start, orders in
 * doubt, overdue callbacks, users, backups and more.
 */
import { lookup } from "node:dns/promises";
import { rehearsalNotice } from "../../administration/installation/rehearsal.ts";
import { makeFindMissing, openCountries } from "../../administration/screening/screening-rule.ts";
import { readConfiguration } from "../../administration/session.ts";
import { makeAddressRules } from "../../callbacks/addresses.ts";
import { findUnknownSettings } from "../../config/config.ts";
import { findLatestBackup } from "../../storage/backup/backups.ts";
import { findHold, identifyServer } from "../../storage/backup/installation-hold.ts";
import { listMoves } from "../../storage/cells/move-merchant.ts";
import { countInDoubt, findInDoubt } from "../../storage/orders/find-orders.ts";
import { idleDaysShown, listUsers } from "../../storage/people/users.ts";
import { countFailingCallbacks } from "../../storage/portal/portal-reads.ts";
import {
  countOverdue,
  findUnreachableReceivers,
  findUnsignedAge,
} from "../../storage/schema/examine.ts";
import { messageOf } from "../../values/problem.ts";
import { later, minutes, systemClock } from "../../values/time.ts";
import { findUnbuilt, findWriteFault, refuseStart } from "../environment.ts";
import type { MachineSession } from "../machine-command.ts";
import {
  type Check,
  type CheckResult,
  inProduction,
  listOf,
  together,
  troubleUnless,
} from "./check.ts";

// biome-ignore format: a table
export const operationChecks: readonly Check[] = [
  ["environment", "staging, a rehearsal, and what keeps production from starting",  checkEnvironment],
  ["settings",    "variables that begin with GW_ and are not settings",             checkSettings],
  ["readiness",   "whether the node of this machine takes payments, and its gates", checkReadiness],
  ["ports",       "figures that the world reaches or that are nowhere, and the portal's port", checkPorts],
  ["pages",       "the portal and the documentation, which production does not build by itself", checkPages],
  ["cells",       "unreachable cells",                                        checkCells],
  ["doubt",       "orders in doubt",                                             checkDoubt],
  ["callbacks",   "callbacks that wait, and receivers that do not answer",       checkCallbacks],
  ["retention",   "data that is kept without a limit, and logs for less than a year", checkRetention],
  ["audit heads", "heads of the audit: signed, and written outside of the database, to a file that can be written", checkAuditHeads],
  ["users",       "users who have not used their account for 90 days, and settings that let strangers guess or one person approve alone", checkUsers],
  ["moves",       "unfinished moves of merchants between cells",                 checkMoves],
  ["screening",   "the file of IP countries, and rules that lack their data",    checkScreening],
  ["hold",        "an installation that was restored and sends nothing",         checkHold],
  ["backup",      "the age of the latest backup",                                checkBackup],
];

async function checkEnvironment(session: MachineSession): Promise<CheckResult> {
  const { environment, baseUrl, rehearsal } = session.config;
  const what = `environment: ${rehearsal ? "rehearsal" : environment}`;
  const refused = await refuseStart(session);
  if (refused !== undefined) return { what, troubles: refused.sentence.split("\n") };
  if (rehearsal) return { what, warnings: [`${rehearsalNotice} docs/rehearsal.md ends it.`] };
  if (environment === "production") return { what };
  const sandbox = "GW_ENV is staging: the sandbox and the demonstration merchant are on.";
  const plain = "GW_BASE_URL is not an https:// address, which production needs.";
  return { what, warnings: baseUrl.startsWith("https://") ? [sandbox] : [sandbox, plain] };
}

async function checkSettings(): Promise<CheckResult> {
  const unknown = findUnknownSettings(process.env);
  const warnings = unknown.map(({ name, meant }) => {
    const advice = meant === undefined ? "see `gw config`" : `did you mean ${meant}?`;
    return `${name} is no setting: ${advice}`;
  });
  return { what: `unknown settings: ${listOf(unknown.map(({ name }) => name))}`, warnings };
}

const nodeAnswersWithinMs = 10_000;

/** Asks the health port of the node on this machine, which by default serves only this machine. */
async function checkReadiness(session: MachineSession): Promise<CheckResult> {
  const { adminHost, adminPort, port, host, tlsCertificateFile } = session.config;
  if (adminPort === "" && tlsCertificateFile !== "") {
    const warning = "Set GW_ADMIN_PORT, so that gw doctor can ask the node.";
    return { what: "node: not asked", warnings: [warning] };
  }
  const [address, own] = adminPort === "" ? [host, port] : [adminHost, adminPort];
  const name = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  const url = `http://${name.includes(":") ? `[${name}]` : name}:${own}/health/ready`;
  const signal = AbortSignal.timeout(nodeAnswersWithinMs);
  const answer = await fetch(url, { signal })
    .then(async (reply) => (await reply.json()) as NodeHealth)
    .catch(messageOf);
  if (typeof answer === "string") {
    const advice = `No node answers at ${url} (${answer}): start it, or see its log.`;
    return inProduction(session, "node: not running", [advice]);
  }
  const missing = Object.entries(answer.missing).map(([what, fault]) => {
    return fault === notSignedOn ? `${what}: ${fault}; ${whyNotSignedOn}` : `${what}: ${fault}`;
  });
  return inProduction(session, `node: ${answer.status}`, missing);
}

/** A node's report that a gate has no link to its acquirer. Only the node's log has the cause. */
const notSignedOn = "not signed on";
const whyNotSignedOn = "acquirer.tls_failed and acquirer.link_down in the log tell why, in `why`.";

type NodeHealth = {
  readonly status: string;
  readonly missing: Readonly<Record<string, string>>;
};

async function checkPorts(session: MachineSession): Promise<CheckResult> {
  const { config } = session;
  const what = `health and figures: ${config.adminPort === "" ? "GW_PORT" : "GW_ADMIN_PORT"}`;
  const found = [await findOpenFigures(session, what), findPortalPort(config)];
  return together(what, found);
}

async function findOpenFigures(session: MachineSession, what: string): Promise<CheckResult> {
  const { adminPort, adminHost, tlsCertificateFile, environment } = session.config;
  if (adminPort !== "") {
    if (!(await isPublic(adminHost))) return { what };
    const advice = "set it to an address inside your network";
    const told = `GW_ADMIN_HOST is ${adminHost}, and the world may read the figures: ${advice}.`;
    return inProduction(session, what, [told]);
  }
  if (environment === "production") {
    return { what, warnings: ["Set GW_ADMIN_PORT: production has /metrics on no other port."] };
  }
  if (tlsCertificateFile === "") return { what };
  return { what, warnings: ["Set GW_ADMIN_PORT: everyone who reaches GW_PORT can read /metrics."] };
}

/** The host has a public address, or stands for all addresses of the machine, as `0.0.0.0` does. */
async function isPublic(host: string): Promise<boolean> {
  const rules = makeAddressRules(noneOpened);
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(
    ({ address }) =>
      ["0.0.0.0", "::"].includes(address) || rules.findAddressFault(address, address) === undefined,
  );
}

const noneOpened = { ports: [], allowsLoopback: false, privateNetworks: [], names: [] };

async function checkPages(): Promise<CheckResult> {
  const unbuilt = findUnbuilt();
  return { what: `pages: ${unbuilt.length === 0 ? "built" : "not built"}`, troubles: unbuilt };
}

/**
 * Warns if the port in the portal's URL is not the port on which the portal listens. Behind a proxy
 * the ports are not compared, because browsers connect to the proxy's port.
 */
function findPortalPort(config: MachineSession["config"]): Omit<CheckResult, "what"> {
  const { portalUrl, environment, tlsCertificateFile } = config;
  const listening = config.portalPort === "" ? config.port : config.portalPort;
  const isBehindProxy = environment === "production" && tlsCertificateFile === "";
  if (portalUrl === "" || isBehindProxy || listening === 0) return {};
  const url = new URL(portalUrl);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port === listening) return {};
  const told = `GW_PORTAL_URL has the port ${port}, and the portal listens on ${listening}`;
  return { warnings: [`${told}: that is right only where a proxy passes it on.`] };
}

async function checkCells({ unreachableCells }: MachineSession): Promise<CheckResult> {
  const troubles = unreachableCells.map(
    (name) => `The cell ${name} is unreachable: its merchants get 503. Make its server reachable.`,
  );
  return { what: `unreachable cells: ${listOf(unreachableCells)}`, troubles };
}

async function checkDoubt({ cells, config }: MachineSession): Promise<CheckResult> {
  const stores = cells.stores(({ node }) => node.query);
  const counts = await stores.each((query) => countInDoubt(query));
  const count = counts.reduce((sum, each) => sum + each, 0);
  const what = `orders in doubt: ${count || "none"}`;
  if (count === 0) return { what };
  const oldest = (await stores.each((query) => findInDoubt(query, 1))).flat();
  const alarmAt = later(systemClock.now(), -config.doubtAlarmMs);
  const isLong = oldest.some(({ transaction, acceptedAt }) => {
    return (transaction.identifiers?.transmittedAt ?? acceptedAt) < alarmAt;
  });
  const advice = "See gw doubt list; the gateway goes on asking the acquirer.";
  return isLong
    ? {
        what,
        troubles: ["One has been so for longer than GW_DOUBT_ALARM_S: call the acquirer.", advice],
      }
    : { what, warnings: [advice] };
}

const overdueMs = 300_000;
const receiversShown = 5;
const unreachableTries = 3;

async function checkCallbacks({ cells }: MachineSession): Promise<CheckResult> {
  const stores = cells.stores(({ node }) => node.query);
  const before = later(systemClock.now(), -overdueMs);
  const overdue = await countOverdue(cells, before);
  // Failing callbacks are counted as on the portal's home page, so that both show the same number.
  const failing = await stores.each((query) => countFailingCallbacks(query, undefined));
  const failed = failing.reduce((sum, each) => sum + each, 0);
  const receivers = await stores.each((query) =>
    findUnreachableReceivers(query, unreachableTries, receiversShown),
  );
  const told = receivers
    .flat()
    .map(
      ({ receiver, waiting }) =>
        `${receiver} has failed ${unreachableTries} times or more, and ${waiting} callbacks wait ` +
        "for it: tell the merchant, and see gw callback list.",
    );
  const late = `${overdue} should have been sent five minutes ago: is a node running?`;
  return {
    what:
      `callbacks overdue: ${overdue || "none"}; failed once or more and tried again: ` +
      `${failed || "none"}; receivers that failed ${unreachableTries} times or more: ` +
      `${told.length || "none"}`,
    troubles: overdue > 0 ? [late] : [],
    warnings: told.slice(0, receiversShown),
  };
}

/** PCI DSS 10.5.1 requires logs to be kept for a year. */
const logKeepDaysMin = 365;

async function checkRetention({ config }: MachineSession): Promise<CheckResult> {
  const { callbackKeepDays, historyKeepMonths, logKeepDays } = config;
  const off = [
    ...(callbackKeepDays === 0 ? ["GW_CALLBACK_KEEP_DAYS"] : []),
    ...(historyKeepMonths === 0 ? ["GW_HISTORY_KEEP_MONTHS"] : []),
    ...(logKeepDays === 0 ? ["GW_LOG_KEEP_DAYS"] : []),
  ];
  const isShort =
    config.environment === "production" && logKeepDays > 0 && logKeepDays < logKeepDaysMin;
  const warnings = [
    ...off.map((name) => `${name} is 0: personal data is kept for ever, and the disk fills.`),
    ...(isShort ? [`GW_LOG_KEEP_DAYS is below ${logKeepDaysMin}: keep the logs of a year.`] : []),
  ];
  return { what: `retention without a limit: ${listOf(off)}`, warnings };
}

const unsignedMaxS = 120;

async function checkAuditHeads({ config, database }: MachineSession): Promise<CheckResult> {
  const { auditHeadFile, auditHeadUrl } = config;
  const unsignedS = await findUnsignedAge(database.query);
  const isOutside = auditHeadFile !== "" || auditHeadUrl !== "";
  const where = auditHeadFile || auditHeadUrl || "the database alone";
  const what = `heads of the audit: written to ${where}`;
  const told = [
    ...(unsignedS !== undefined && unsignedS > unsignedMaxS
      ? ["The newest entry of the audit is not signed: is a node running?"]
      : []),
    ...(isOutside
      ? []
      : ["Set GW_AUDIT_HEAD_FILE or GW_AUDIT_HEAD_URL: the database's owner could shorten it."]),
  ];
  const fault =
    auditHeadFile === "" ? undefined : await findWriteFault(auditHeadFile, { isRotated: false });
  const unwritten = `GW_AUDIT_HEAD_FILE cannot be written by this user: ${fault}.`;
  return { what, troubles: fault === undefined ? [] : [unwritten], warnings: told };
}

async function checkUsers({ database, config }: MachineSession): Promise<CheckResult> {
  const users = await listUsers(database.query);
  const idle = users.filter((user) => user.enabled && user.isIdle).map(({ login }) => login);
  const told = `Disable or remove them (gw user disable)${
    config.userIdleDays === 0 ? ", or set GW_USER_IDLE_DAYS" : ""
  }: ${idle.slice(0, 20).join(", ")}.`;
  const what = `users idle for ${idleDaysShown} days: ${idle.length || "none"}`;
  return { what, warnings: [...(idle.length === 0 ? [] : [told]), ...findWeakAccess(config)] };
}

/**
 * Compares the settings with PCI DSS 8.2.8 and 8.3.4. Another sentence is added if one person could
 * approve their own work by setting another name in `GW_USER`, which is not verified.
 */
function findWeakAccess(config: MachineSession["config"]): readonly string[] {
  const { secondPerson, secondPersonAbove, usersOnly } = config;
  const isProduction = config.environment === "production";
  const needsTwo = secondPerson || secondPersonAbove > 0;
  return [
    ...(isProduction && config.portalTriesMax > 10 ? ["GW_PORTAL_TRIES is above 10."] : []),
    ...(isProduction && config.portalLockMs < minutes(30)
      ? ["GW_PORTAL_LOCK_S is below 1800."]
      : []),
    ...(isProduction && config.portalIdleMs > minutes(15)
      ? ["GW_PORTAL_IDLE_S is above 900."]
      : []),
    ...(needsTwo && !usersOnly
      ? ["Set GW_USERS_ONLY=on: without it, one person approves under another name (GW_USER)."]
      : []),
  ];
}

/** A merchant that stays stopped in its move to another cell gets 503 to all its requests. */
async function checkMoves({ database, cells }: MachineSession): Promise<CheckResult> {
  const moves = await listMoves({ main: database, cells });
  const names = moves.map(({ login, to }) => `${login} to ${to}`);
  const what = `unfinished moves: ${listOf(names)}`;
  const told = moves.map(({ login, from, to, since, state }) => {
    const taken = state === "switched" ? "" : ", or take it back with --abort";
    const said = `${login} from ${from} to ${to}, ${state}, begun at ${since} UTC`;
    return `${said}: run gw cell move-merchant ${login} ${to}${taken}.`;
  });
  const isStopped = moves.some(({ state }) => state === "stopped");
  return isStopped ? { what, troubles: told } : { what, warnings: told };
}

async function checkScreening(session: MachineSession): Promise<CheckResult> {
  const { ipCountryFile: file } = session.config;
  const what = `IP country file: ${file || "none"}`;
  // This check itself reports an unusable file of IP countries, so no second warning is printed.
  const opened = { ...session, warn: () => undefined };
  const { problem } = await openCountries(opened);
  if (problem !== undefined) {
    return { what, troubles: [`It cannot be used: ${problem}. Load another one.`] };
  }
  const findMissing = await makeFindMissing(opened);
  const { screeningRules } = await readConfiguration(session);
  const warnings = screeningRules.flatMap((rule) => {
    const missing = rule.enabled ? findMissing(rule) : undefined;
    return missing === undefined ? [] : [`The rule ${rule.id} does not fire, ${missing}.`];
  });
  return { what, warnings };
}

async function checkHold({ database }: MachineSession): Promise<CheckResult> {
  const hold = await findHold(database.query);
  const target = (await identifyServer(database.query).catch(() => undefined))?.target;
  const what = `hold: ${hold === undefined ? "none" : hold.why}`;
  if (hold !== undefined) {
    const steps =
      "`gw restore verify`, then `gw reconcile` for every gate, then `gw restore release`";
    return { what, troubles: [`The installation is on hold and sends nothing: ${steps}.`] };
  }
  if (!target) return { what };
  const warning =
    `The server's settings still have ${target}: remove it, or the next failover puts the ` +
    "installation on hold.";
  return { what, warnings: [warning] };
}

async function checkBackup({ database, config }: MachineSession): Promise<CheckResult> {
  const { backupAgeMaxHours: most } = config;
  const latest = await findLatestBackup(database.query);
  const age = latest === undefined ? undefined : Math.floor(latest.ageS / 3600);
  return troubleUnless(
    `backup: ${age === undefined ? "never" : `${age} hours ago`}`,
    most === 0 || (age !== undefined && age < most),
    "Run `gw backup --to <folder>` every day; GW_BACKUP_AGE_MAX_H=0: another program makes them.",
  );
}
