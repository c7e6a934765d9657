/**
 * Whether the installation is on hold (decision 0050). A restored database lacks everything that
 * happened after its backup, so its nodes answer status requests and send nothing until an operator
 * has compared it with the acquirers' books. A node puts the installation on hold by itself when it
 * finds that its database is a copy.
 */
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../values/problem.ts";
import { asInstant, type Instant } from "../../values/time.ts";
import { notifyNodes } from "../configuration/configuration.ts";
import { moveOrderNumbersAhead } from "../orders/order-ids.ts";
import type { Audit } from "../people/audit.ts";
import type { Database, Query } from "../server/database.ts";

export type Hold = {
  readonly since: Instant;
  readonly why: string;
  readonly verifiedAt: Instant | undefined;
  /** The acquirers' books that were compared: the gate and the day of each, as one text. */
  readonly reconciled: readonly string[];
};

export function comparedDay(gate: string, day: string): string {
  return `${gate} ${day}`;
}

export async function findHold(query: Query): Promise<Hold | undefined> {
  const [row] = await query<{
    since: string | null;
    why: string | null;
    verified: string | null;
    reconciled: readonly string[];
  }>(
    `select (extract(epoch from since) * 1000)::bigint as since, why, reconciled,
       (extract(epoch from verified_at) * 1000)::bigint as verified
     from installation_hold`,
  );
  if (row === undefined || row.since === null) return undefined;
  const { since, why, verified, reconciled } = row;
  return {
    since: asInstant(Number(since)),
    why: why ?? "",
    reconciled,
    verifiedAt: verified === null ? undefined : asInstant(Number(verified)),
  };
}

/**
 * Puts the installation on hold. If it is on hold already, a new hold begins: before its release,
 * the audit must be verified and the acquirers' books be compared again.
 */
export function putOnHold(audit: Audit, why: string): Promise<void> {
  return audit.change(async (query, write) => {
    await markHold(query, why);
    await write({ action: "restore hold", subject: "installation", after: { why } });
  });
}

/** Puts the installation on hold in the transaction in which the caller writes the audit entry. */
export async function markHold(query: Query, why: string): Promise<void> {
  await query(
    `update installation_hold set since = clock_timestamp(), why = $1, verified_at = null,
       reconciled = '{}'`,
    [why],
  );
  await notifyNodes(query);
}

export async function noteVerified(query: Query): Promise<void> {
  await query("update installation_hold set verified_at = now() where since is not null");
}

export async function noteReconciled(query: Query, gate: string, day: string): Promise<void> {
  await query(
    `update installation_hold set reconciled = array_append(array_remove(reconciled, $1), $1)
     where since is not null`,
    [comparedDay(gate, day)],
  );
}

/**
 * Releases the hold, after skipping all ids and numbers that may have been issued since the backup.
 */
export async function releaseHold(database: Database, audit: Audit, facts: object): Promise<void> {
  const server = await identifyServer(database.query).catch(() => undefined);
  await audit.change(async (query, write) => {
    await query("select from installation_hold for update");
    const before = await findHold(query);
    if (before === undefined) return;
    await moveOrderNumbersAhead(query);
    await query(moveOtherNumbers);
    await query(
      `update installation_hold set since = null, why = null, verified_at = null,
         reconciled = '{}', system_id = $1, timeline = $2`,
      [server?.system, server?.timeline],
    );
    const after = { ...facts, reconciled: before?.reconciled };
    await write({
      action: "restore release",
      subject: "installation",
      before: { why: before?.why },
      after,
    });
    await notifyNodes(query);
  });
}

const moveOtherNumbers = `
select setval(format('%I.%I', schemaname, sequencename), last_value + 1000)
from pg_sequences
where schemaname in ('public', 'vault') and sequencename <> 'order_sequence'
  and last_value < 2000000000`;

type Server = {
  readonly system: string;
  readonly timeline: number;
  readonly target: string | null;
  readonly knownSystem: string | null;
  readonly knownTimeline: number | null;
};

/**
 * Reads the identity of the server, its recovery target, if it was restored to a point in time, and
 * the identity of the server on which the nodes have worked so far.
 */
export async function identifyServer(query: Query): Promise<Server> {
  const [row] = await query<Server>(
    `select (select system_identifier from pg_control_system())::text as system,
       ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline,
       (select string_agg(name || ' ' || current_setting(name), ', ')
        from unnest(array['recovery_target', 'recovery_target_time', 'recovery_target_lsn',
          'recovery_target_name', 'recovery_target_xid']) as name
        where current_setting(name) <> '') as target,
       system_id as "knownSystem", timeline as "knownTimeline"
     from installation_hold`,
  );
  if (row === undefined) throw new Error("the server did not answer");
  return row;
}

/**
 * Puts the installation on hold if its database is a copy: its server has another system
 * identifier, or another timeline and a recovery target. Another timeline alone means that a
 * standby has taken over, which has lost nothing.
 */
export async function recognizeCopy(database: Database, audit: Audit): Promise<void> {
  // The hold is read before the identity of the server, because a release changes both at once. In
  // the other order, an installation released between the two queries would be put on hold again.
  const hold = await findHold(database.query);
  const { knownSystem, knownTimeline, ...server } = await identifyServer(database.query);
  if (knownSystem === server.system && knownTimeline === server.timeline) return;
  const why = describeCopy(knownSystem, server);
  if (why !== undefined) {
    if (hold === undefined) await putOnHold(audit, why);
    return;
  }
  await database.query("update installation_hold set system_id = $1, timeline = $2", [
    ...[server.system, server.timeline],
  ]);
}

function describeCopy(
  known: string | null,
  { system, target }: Pick<Server, "system" | "target">,
): string | undefined {
  if (known === null) return undefined;
  if (known !== system) return "the database is on another server, as a copy";
  return target === null ? undefined : `the database was restored to a point in time (${target})`;
}

/** The error has PostgreSQL's code for a server that is starting, so callers try again later. */
class OnHold extends Error {
  readonly code = "57P03";
  constructor() {
    super("the installation is on hold");
  }
}

const lookMs = 1_000;

type HoldOptions = {
  readonly database: Database;
  readonly audit: Audit;
  /** Called if the database server does not report its identity, by which a copy is recognised. */
  readonly onUnknown: (cause: string) => void;
  readonly onChange: (hold: Hold | undefined) => void;
  /** How long a node's background loops rely on the hold that one of them has read. */
  readonly freshMs?: number;
};

const usualFreshMs = 200;

export type LiveHold = Awaited<ReturnType<typeof openHold>>;

export async function openHold(options: HoldOptions) {
  const { database, audit, onUnknown, onChange, freshMs = usualFreshMs } = options;
  const tells = await recognizeCopy(database, audit).then(
    () => true,
    (error) => onUnknown(messageOf(error)),
  );
  let hold = await findHold(database.query);
  let lookedAtMs = performance.now();
  if (hold !== undefined) onChange(hold);

  return {
    current: () => hold,
    look,
    /**
     * Wraps a background loop, so that it does nothing while the installation is on hold. If the
     * main database is unreachable, the hold that was read last remains valid, so that the node
     * still processes the orders of other cells.
     */
    unless: <Result>(task: () => Promise<Result>, otherwise: Result) => {
      return async () => {
        await lookAgain();
        return hold === undefined ? task() : otherwise;
      };
    },
    refusing: <Given extends readonly unknown[], Result>(
      call: (...given: Given) => Promise<Result>,
    ): ((...given: Given) => Promise<Result>) => {
      return (...given) => (hold === undefined ? call(...given) : Promise.reject(new OnHold()));
    },
  };

  async function lookAgain(): Promise<void> {
    if (performance.now() - lookedAtMs < freshMs) return;
    lookedAtMs = performance.now();
    const late = delay(lookMs, undefined, { ref: false });
    await Promise.race([look(), late]).catch(() => undefined);
  }

  /** Checks the server's identity too, because the server may be restored while the node runs. */
  async function look(): Promise<Hold | undefined> {
    const before = hold;
    if (tells === true) await recognizeCopy(database, audit).catch(() => undefined);
    hold = await findHold(database.query);
    if ((before === undefined) !== (hold === undefined)) onChange(hold);
    return hold;
  }
}
