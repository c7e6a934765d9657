/**
 * Stores the keys for message authentication that an acquirer's host delivers, each only once, by
 * the node that has received it.
 */
import type { DeliveredKey, StoreKey } from "../../acquirers/gates.ts";
import type { GateId } from "../../values/ids.ts";
import { type Clock, type Instant, later } from "../../values/time.ts";
import type { Vault } from "../../vault/vault.ts";
import { notifyNodes } from "../configuration/configuration.ts";
import type { Audit } from "../people/audit.ts";
import type { Query } from "../server/database.ts";
import { macKeyContext } from "./mac-keys.ts";

/** The gateway signs with a delivered key after this time, or earlier if the host has used it. */
const writesAfterMs = 60_000;
/** How long the previous key verifies messages after a delivery. */
const verifiesForMs = 3_600_000;

type StoreDependencies = {
  readonly audit: Audit;
  readonly sealSecret: Vault["sealSecret"];
  readonly clock: Pick<Clock, "now">;
};

/**
 * Makes the function that stores a delivered key and notifies all nodes. The first key of a gate is
 * used at once, because the gate has no other.
 */
export function makeStoreKey(
  { audit, sealSecret, clock }: StoreDependencies,
  gateId: GateId,
): StoreKey {
  return (delivered: DeliveredKey) =>
    audit.change(async (query, write) => {
      // The lock on the gate's row makes other deliveries to the same gate wait.
      await query("select id from gates where id = $1 for update", [gateId]);
      const now = clock.now();
      if (!(await isNew(query, delivered, now))) {
        const [newest] = await query<{ delivery: Buffer | null }>(
          "select delivery from gate_mac_keys where gate_id = $1 order by id desc limit 1",
          [gateId],
        );
        return newest?.delivery?.equals(delivered.digest) === true ? "known" : "replayed";
      }
      await query(
        `delete from gate_mac_keys where gate_id = $1
         and verifies_until <= to_timestamp($2::float8 / 1000)`,
        [gateId, now],
      );
      await add(query, delivered, now);
      const { algorithm, bytes, checkValue } = delivered;
      const after = { algorithm, bytes, checkValue };
      await write({ action: "gate mac-key deliver", subject: `gate with id ${gateId}`, after });
      await notifyNodes(query);
      return "stored";
    });

  async function isNew(query: Query, { digest }: DeliveredKey, now: Instant): Promise<boolean> {
    const rows = await query(
      `insert into gate_key_deliveries (gate_id, digest, delivered_at)
       values ($1, $2, to_timestamp($3::float8 / 1000)) on conflict do nothing returning gate_id`,
      [gateId, digest, now],
    );
    return rows.length > 0;
  }

  async function add(query: Query, delivered: DeliveredKey, now: Instant): Promise<void> {
    const { algorithm, bytes, checkValue, key, digest } = delivered;
    const older = await query(
      `update gate_mac_keys set writes_at = null, verifies_until =
         least(verifies_until, to_timestamp($2::float8 / 1000)) where gate_id = $1 returning id`,
      [gateId, later(now, verifiesForMs)],
    );
    const writesAt = older.length === 0 ? null : later(now, writesAfterMs);
    await query(
      `insert into gate_mac_keys
         (gate_id, algorithm, mac_bytes, check_value, sealed, delivery, writes_at)
       values ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000))`,
      [
        ...[gateId, algorithm, bytes, checkValue, sealSecret(key, macKeyContext(gateId))],
        ...[digest, writesAt],
      ],
    );
  }
}

export function makeDueKeys(query: Query, clock: Pick<Clock, "now">) {
  return {
    /** Finds gates whose next key is due and notes the request, so no other node requests it. */
    async claimDue(): Promise<readonly GateId[]> {
      const rows = await query<{ gateId: GateId }>(
        `update gate_zone_keys set asked_at = to_timestamp($1::float8 / 1000)
         where asked_at + every_s * interval '1 second' <= to_timestamp($1::float8 / 1000)
         returning gate_id as "gateId"`,
        [clock.now()],
      );
      return rows.map(({ gateId }) => gateId);
    },

    /** Makes the request for a key due again in a minute, because the host could not be asked. */
    async postpone(gate: GateId): Promise<void> {
      await query(
        `update gate_zone_keys
         set asked_at = to_timestamp($2::float8 / 1000) - (every_s - 60) * interval '1 second'
         where gate_id = $1 and every_s > 60`,
        [gate, clock.now()],
      );
    },
  };
}
