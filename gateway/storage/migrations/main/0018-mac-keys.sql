-- Keys for message authentication with an acquirer's host, sealed by the vault's keys. The newest
-- of a gate writes; all of them verify until they are dropped.
create table gate_mac_keys (
  id          bigint generated always as identity primary key,
  gate_id     bigint not null references gates on delete cascade,
  algorithm   text not null,
  mac_bytes   integer not null check (mac_bytes in (4, 8)),
  sealed      bytea not null,
  check_value text not null,
  created_at  timestamptz not null default now()
);
