-- compatible-from: 0020
-- locks: gates and gate_mac_keys, for an instant
-- Keys that a host delivers by network messages (decision 0029). A delivered key writes from
-- `writes_at` on, or once the host has used it; the one before it verifies until `verifies_until`.
-- Both are null for keys that operators set and drop.
alter table gate_mac_keys
  add column writes_at      timestamptz,
  add column verifies_until timestamptz,
  add column delivery       bytea;

-- When an operator dropped the last key of the gate: `gw doctor` reminds of it.
alter table gates add column authentication_ended_at timestamptz;

-- The key under which a gate's host delivers them, sealed by the vault's keys.
create table gate_zone_keys (
  gate_id     bigint primary key references gates on delete cascade,
  cipher      text not null check (cipher in ('tdes', 'aes')),
  -- Of the keys that are delivered under it.
  algorithm   text not null,
  mac_bytes   integer not null check (mac_bytes in (4, 8)),
  check_value text not null,
  sealed      bytea not null,
  -- How often the gateway asks for the next key; null: never.
  every_s     integer check (every_s > 0),
  asked_at    timestamptz not null default now()
);

-- A key that the host has delivered once is not taken again: digests of keys under their zone key.
create table gate_key_deliveries (
  gate_id      bigint not null references gates on delete cascade,
  digest       bytea not null,
  delivered_at timestamptz not null,
  primary key (gate_id, digest)
);
