-- compatible-from: 0020
-- locks: merchants, for an instant
-- Merchants live in cells (decision 0034). A cell is a schema with the tables of its merchants'
-- orders: the first, `main`, is the tables of this database; the others are made by the files in
-- `cell/`. A cell without an address is in this database.
create table cells (
  name       text primary key check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
  -- Sealed by the vault's keys, because it has a password.
  sealed_url bytea,
  created_at timestamptz not null default now()
);
insert into cells (name) values ('main');

alter table merchants add column cell text not null default 'main' references cells;

-- What `cell/0001` makes in the other cells.
create table card_keys (
  id           integer primary key,
  destroyed_at timestamptz
);
insert into card_keys (id, destroyed_at) select id, destroyed_at from vault.keys;

create table moved_merchants (
  merchant_id bigint primary key,
  moved_at    timestamptz not null default now()
);
