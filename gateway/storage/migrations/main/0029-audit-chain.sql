-- compatible-from: 0026
-- locks: audit, for an instant
-- The audit as a chain (decision 0046): an entry's hash covers the entry and the hash before it.
-- Lines of earlier versions have neither number nor hash; the first entry has a digest of them.
alter table audit
  add column seq     bigint unique,
  -- From where, what, and why.
  add column origin  text,
  add column subject text,
  add column reason  text,
  -- The text is hashed as it is stored, so these are not jsonb.
  add column before  json,
  add column after   json,
  add column hash    bytea;

-- The newest entry. Entries are written one after the other by a lock on this row.
create table audit_head (
  one  boolean primary key default true check (one),
  seq  bigint not null,
  hash bytea not null
);
insert into audit_head (seq, hash) values (0, '');

-- Ed25519. The private key is sealed by the vault's keys; the public key verifies old signatures.
create table audit_keys (
  id         integer primary key generated always as identity,
  public_key bytea not null,
  sealed     bytea not null,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index audit_keys_one_current on audit_keys ((true)) where retired_at is null;

create table audit_signatures (
  seq       bigint primary key,
  hash      bytea not null,
  key_id    integer not null references audit_keys,
  signature bytea not null,
  signed_at timestamptz not null default now()
);
