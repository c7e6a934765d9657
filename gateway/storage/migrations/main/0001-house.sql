-- The house: who may send orders, the orders themselves, and the vault.
-- Every large table starts with merchant_id in its key, so that it can be spread over a cluster.

create sequence entry_point_ids start 1001;
create sequence merchant_ids start 101;
create sequence gate_ids start 11;

-- Order ids are taken in blocks of a thousand. The start depends on the moment the database was
-- made, so that a host that remembers references never meets one of an earlier database again.
do $$
begin
  execute format('create sequence order_sequence increment 1000 start %s',
                 (extract(epoch from now())::bigint - 1735689600) * 10000);
end $$;

create table merchants (
  id          bigint primary key,
  login       text not null unique,
  name        text not null,
  control_key bytea not null,
  settings    json not null default '{}',
  created_at  timestamptz not null default now()
);

create table gates (
  id         bigint primary key,
  name       text not null unique,
  kind       text not null,
  settings   json not null,
  created_at timestamptz not null default now()
);

create table endpoints (
  id          bigint primary key,
  merchant_id bigint not null references merchants,
  name        text not null,
  currency    text not null,
  gate_id     bigint not null references gates,
  enabled     boolean not null default true,
  settings    json not null default '{}',
  created_at  timestamptz not null default now()
);

create table endpoint_groups (
  id          bigint primary key,
  merchant_id bigint not null references merchants,
  name        text not null,
  enabled     boolean not null default true,
  created_at  timestamptz not null default now()
);

create table endpoint_group_members (
  group_id    bigint not null references endpoint_groups,
  endpoint_id bigint not null references endpoints,
  primary key (group_id, endpoint_id)
);

-- `facts` never changes after the insert; `progress` is written anew by every step.
create table orders (
  merchant_id    bigint not null,
  id             bigint not null,
  endpoint_id    bigint not null,
  client_orderid text not null,
  attempt        integer not null,
  digest         bytea not null,
  version        integer not null,
  kind           text not null,
  stage          text not null,
  owes           text,
  carrier        text,
  due_at         timestamptz,
  amount         bigint not null,
  currency       text not null,
  accepted_at    timestamptz not null,
  finished_at    timestamptz,
  facts          json not null,
  progress       json not null,
  primary key (merchant_id, id)
) with (fillfactor = 80);

create unique index orders_by_client_orderid on orders (merchant_id, client_orderid, attempt);
create index orders_due on orders (due_at) where due_at is not null;
-- Finds an order by its sequence alone, which only a late answer of a host needs.
create index orders_by_id on orders using brin (id) with (pages_per_range = 32);

-- One row per commit: the events that led from one version of the order to the next.
create table order_history (
  merchant_id bigint not null,
  order_id    bigint not null,
  version     integer not null,
  at          timestamptz not null,
  node        text not null,
  events      json not null,
  primary key (merchant_id, order_id, version)
);

-- Which request led to which order, and what it was answered.
create table requests (
  merchant_id bigint not null,
  serial      uuid not null,
  endpoint_id bigint not null,
  order_id    bigint,
  operation   text not null,
  at          timestamptz not null,
  answer      json not null,
  primary key (merchant_id, serial)
);

create schema vault;

create table vault.keys (
  id         integer primary key generated always as identity,
  purpose    text not null,
  sealed     bytea not null,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);

create table vault.cards (
  merchant_id bigint not null,
  id          bigint not null,
  key_id      integer not null,
  sealed      bytea not null,
  fingerprint bytea not null,
  created_at  timestamptz not null default now(),
  primary key (merchant_id, id)
);

-- Two nodes must not both make the first keys, nor the first merchant.
create unique index keys_one_current on vault.keys (purpose) where retired_at is null;
