/** The keys of gates for message authentication, as they are stored: sealed by the vault's keys. */
import type { GateMacKey } from "../acquirers/gates.ts";
import type { GateId } from "../values/ids.ts";
import type { Vault } from "../vault/vault.ts";
import type { Query } from "./database.ts";

type KeyRow = Omit<GateMacKey, "key"> & { readonly gateId: GateId; readonly sealed: Buffer };

/** By gate, the newest first: it writes. */
export async function loadMacKeys(
  query: Query,
  open: Vault["openSecret"],
): Promise<ReadonlyMap<GateId, readonly GateMacKey[]>> {
  const rows = await query<KeyRow>(
    `select id, gate_id as "gateId", algorithm, mac_bytes as bytes, sealed
     from gate_mac_keys order by gate_mac_keys.id desc`,
  );
  const byGate = Map.groupBy(rows, ({ gateId }) => gateId);
  return new Map([...byGate].map(([gateId, own]) => [gateId, own.map(openRow)]));

  function openRow({ gateId, sealed, ...row }: KeyRow): GateMacKey {
    return { ...row, key: open(sealed, macKeyContext(gateId)) };
  }
}

/** What a key is sealed for. */
export function macKeyContext(gateId: string): string {
  return `mac-key/${gateId}`;
}

/** What may be shown of a key. */
export type ListedMacKey = {
  readonly id: string;
  readonly algorithm: string;
  readonly bytes: number;
  readonly checkValue: string;
  readonly createdAt: string;
};

/** The newest first. */
export function listMacKeys(query: Query, gateId: GateId): Promise<readonly ListedMacKey[]> {
  return query<ListedMacKey>(
    `select id, algorithm, mac_bytes as bytes, check_value as "checkValue",
       to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC') as "createdAt"
     from gate_mac_keys where gate_id = $1 order by gate_mac_keys.id desc`,
    [gateId],
  );
}
