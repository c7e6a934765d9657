-- compatible-from: 0020
-- locks: nothing
-- What operators and nodes have destroyed or erased: who, when, what, how much. A line never names
-- a person, a card or an address.
create table audit (
  id     bigint generated always as identity primary key,
  at     timestamptz not null,
  actor  text not null,
  action text not null,
  detail json not null default '{}'
);

-- Keys for the digests of CVVs: each is made for some minutes, and destroyed a quarter of an hour
-- after its first use at the latest (decision 0041). Unlogged: neither the write-ahead log nor a
-- backup nor a replica has them. A vacuum frees the space of a deleted row, and what is written
-- there next overwrites its bytes: a single row is reason enough.
create unlogged table vault.cvv_keys (
  slot       bigint primary key,
  key_id     integer not null,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
