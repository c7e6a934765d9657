-- A key of the vault is current, then retired, then destroyed: its bytes go, the row stays and
-- tells that there was such a key, and until when.
alter table vault.keys
  alter column sealed drop not null,
  add column destroyed_at timestamptz,
  add check ((sealed is null) = (destroyed_at is not null)),
  add check (destroyed_at is null or retired_at is not null);

-- No card is ever written under a key that is destroyed, however late its writer is. The lock is
-- for the moment between the look for such cards and the destruction; see storage/key-life.ts.
-- Whoever adds a card may not read the keys himself, so it looks with its owner's eyes.
create function vault.refuse_destroyed_keys() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  wanted integer;
begin
  for wanted in select distinct key_id from added loop
    perform pg_advisory_xact_lock_shared(8584, wanted);
    perform from vault.keys where id = wanted and destroyed_at is null;
    if not found then
      raise exception 'the key % is destroyed', wanted using errcode = 'foreign_key_violation';
    end if;
  end loop;
  return null;
end $$;

create trigger cards_have_keys after insert on vault.cards
  referencing new table as added for each statement execute function vault.refuse_destroyed_keys();
create trigger cards_keep_keys after update on vault.cards
  referencing new table as added for each statement execute function vault.refuse_destroyed_keys();

-- Cards with their CVV while an order waits for the cardholder, and the key of each, apart from it.
-- Unlogged: neither is in the write-ahead log, in a base backup or on a replica (decision 0015).
create unlogged table vault.held_secrets (
  context    text primary key,
  sealed     bytea not null,
  expires_at timestamptz not null
);

create unlogged table vault.held_keys (
  context    text primary key,
  key_id     integer not null,
  sealed     bytea not null,
  expires_at timestamptz not null
);
