/**
 * The stored keys of gates for message authentication, and the zone keys under which hosts deliver
 * them. Both are sealed by the vault's keys.
 */
import type { GateMacKey, GateZoneKey } from "../../acquirers/gates.ts";
import type { GateId } from "../../values/ids.ts";
import type { Vault } from "../../vault/vault.ts";
import type { Query } from "../server/database.ts";

type Open = Vault["openSecret"];
type KeyRow = Omit<GateMacKey, "key" | "writesAt" | "verifiesUntil"> & {
  readonly gateId: GateId;
  readonly sealed: Buffer;
  readonly writesAt: number | null;
  readonly verifiesUntil: number | null;
};

/** Loads the keys by gate, the newest first. The gateway signs with the newest. */
export async function loadMacKeys(
  query: Query,
  open: Open,
): Promise<ReadonlyMap<GateId, readonly GateMacKey[]>> {
  const rows = await query<KeyRow>(
    `select id, gate_id as "gateId", algorithm, mac_bytes as bytes, sealed,
       ${msOf("writes_at")} as "writesAt", ${msOf("verifies_until")} as "verifiesUntil"
     from gate_mac_keys order by gate_mac_keys.id desc`,
  );
  const byGate = Map.groupBy(rows, ({ gateId }) => gateId);
  return new Map([...byGate].map(([gateId, own]) => [gateId, own.map(openRow)]));

  function openRow({ gateId, sealed, writesAt, verifiesUntil, ...row }: KeyRow): GateMacKey {
    return {
      ...row,
      ...(writesAt !== null && { writesAt }),
      ...(verifiesUntil !== null && { verifiesUntil }),
      key: open(sealed, macKeyContext(gateId)),
    };
  }
}

type ZoneRow = Omit<GateZoneKey, "key"> & { readonly gateId: GateId; readonly sealed: Buffer };

export async function loadZoneKeys(
  query: Query,
  open: Open,
): Promise<ReadonlyMap<GateId, GateZoneKey>> {
  const rows = await query<ZoneRow>(
    `select gate_id as "gateId", cipher, algorithm, mac_bytes as bytes,
       check_value as "checkValue", sealed from gate_zone_keys`,
  );
  return new Map(
    rows.map(({ gateId, sealed, ...row }) => {
      return [gateId, { ...row, key: open(sealed, zoneKeyContext(gateId)) }];
    }),
  );
}

function msOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`;
}

export function macKeyContext(gateId: string): string {
  return `mac-key/${gateId}`;
}

export function zoneKeyContext(gateId: string): string {
  return `zone-key/${gateId}`;
}

/** Lists the gates that had a key, or whose host should deliver one, and that have none now. */
export function listUnauthenticated(
  query: Query,
): Promise<readonly { readonly name: string; readonly hasZoneKey: boolean }[]> {
  return query(
    `select name, gate_zone_keys.gate_id is not null as "hasZoneKey"
     from gates left join gate_zone_keys on gate_zone_keys.gate_id = gates.id
     where (authentication_ended_at is not null or gate_zone_keys.gate_id is not null)
       and not exists (select from gate_mac_keys where gate_mac_keys.gate_id = gates.id)
     order by name`,
  );
}

export type ListedMacKey = {
  readonly id: string;
  readonly algorithm: string;
  readonly bytes: number;
  readonly checkValue: string;
  readonly createdAt: string;
  readonly delivered: boolean;
  /** The time until which the key verifies messages. Null if it has no successor. */
  readonly verifiesUntil: string | null;
};

export function listMacKeys(query: Query, gateId: GateId): Promise<readonly ListedMacKey[]> {
  const printed = (column: string) =>
    `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC')`;
  return query<ListedMacKey>(
    `select id, algorithm, mac_bytes as bytes, check_value as "checkValue",
       ${printed("created_at")} as "createdAt", delivery is not null as delivered,
       ${printed("verifies_until")} as "verifiesUntil"
     from gate_mac_keys where gate_id = $1 order by gate_mac_keys.id desc`,
    [gateId],
  );
}
