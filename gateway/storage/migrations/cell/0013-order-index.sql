-- compatible-from: 0001
-- locks: nothing
-- What the portal lists, searches and sums up (decision 0058). A background job of the nodes fills
-- these tables; nothing that a payment needs is here, and all of it can be made again from orders.
create table order_index (
  merchant_id    bigint not null,
  -- When the order was accepted.
  at             timestamptz not null,
  order_id       bigint not null,
  version        integer not null,
  endpoint_id    bigint not null,
  client_orderid text not null,
  kind           text not null,
  stage          text not null,
  status         text not null,
  -- Of the transaction that began the order: its status, why it was not approved, 3-D Secure.
  outcome        text not null,
  reason         text not null,
  threeds        text not null,
  -- What the gateway took beside the acquirer, where no cardholder was waited for.
  overhead_ms    integer,
  amount         bigint not null,
  currency       text not null,
  network        text not null,
  last_four      text not null,
  email          text not null,
  gate           text not null,
  reference      text not null,
  -- Everything that is searched or filtered by, each with a letter for its kind.
  words          text[] not null,
  primary key (merchant_id, at, order_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index order_index_by_time on order_index (at, order_id);
create index order_index_words on order_index using gin (words) with (gin_pending_list_limit = 1024);

-- Counts and sums by minute, hour and day; merchant 0 has those of all merchants of the cell.
create table order_figures (
  merchant_id bigint not null,
  grain       text not null check (grain in ('minute', 'hour', 'day')),
  at          timestamptz not null,
  name        text not null,
  key         text not null,
  count       bigint not null,
  primary key (merchant_id, grain, at, name, key)
) with (fillfactor = 70);

-- One row. A writer locks it, so that one order is counted once. Orders up to `walked_id` were
-- indexed from the tables, steps up to `swept_at` were looked through for those that no node has indexed.
create table order_index_progress (
  one       boolean primary key default true check (one),
  walked_id bigint not null default 0,
  is_walked boolean not null default false,
  swept_at  timestamptz not null default now()
);
insert into order_index_progress default values;
