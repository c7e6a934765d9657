-- The tables of a cell: its merchants' orders and what belongs to them. Names have no schema: the
-- connection's search_path is the cell's. Every large table starts with merchant_id in its key, so
-- that it can be spread over servers. There are no triggers and no foreign keys here.

-- Stores each order. Every step replaces `progress`; only a try on the payment page and an erasure
-- replace `facts`. A step changes no indexed column, so that its update is a HOT one: fillfactor
-- leaves room on the page for the next version. Many small vacuums are better than a big one.
create table orders (
  merchant_id    bigint not null,
  -- Unique in the installation: hosts and directory servers name an order by its id alone.
  id             bigint not null primary key,
  endpoint_id    bigint not null,
  client_orderid text not null,
  -- The order's number among those with the same client order id; the first has 1.
  attempt        integer not null,
  -- The digest of the request's fingerprint.
  digest         bytea not null,
  -- The number of the vault's key that made the digest; zero if the digest was deleted.
  digest_key     integer not null,
  -- The digest of the CVV. Its key is destroyed within a quarter of an hour (decision 0041).
  cvv_digest     bytea,
  version        integer not null,
  kind           text not null,
  stage          text not null,
  owes           text,
  -- The node that holds the lease.
  carrier        text,
  amount         bigint not null,
  currency       text not null,
  accepted_at    timestamptz not null,
  -- When the last step was made, in milliseconds. A step is written only to the order that it was
  -- made from. The version alone does not tell: after a failover to a standby that lacked the last
  -- commits, the order may have come to the same version another way.
  changed_at     float8 not null,
  finished_at    timestamptz,
  facts          json not null,
  progress       json not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2,
  autovacuum_vacuum_cost_limit = 1000);
create unique index orders_by_client_orderid on orders (merchant_id, client_orderid, attempt);

-- When a node must look at an order. A row is a hint for one version of the order. The order itself
-- decides, and a row of another version is stale.
create table due (
  due_at      timestamptz not null,
  order_id    bigint not null,
  version     integer not null,
  merchant_id bigint not null,
  node        text,
  primary key (due_at, order_id, version)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);

-- Tables that only grow are partitioned by month: storage/schema/partitions.ts makes the partitions
-- ahead of time and drops old ones. The default partition takes the rows of a month that has none,
-- so that no payment waits for a partition.

-- One row per commit: the events that led from one version of the order to the next.
create table order_history (
  merchant_id bigint not null,
  order_id    bigint not null,
  version     integer not null,
  at          timestamptz not null,
  node        text not null,
  events      json not null,
  primary key (merchant_id, order_id, version, at)
) partition by range (at);
create table order_history_default partition of order_history default
  with (autovacuum_analyze_scale_factor = 0.2);
-- Reconciliation reads the orders with steps since a day began.
create index order_history_by_time on order_history using brin (at) with (pages_per_range = 32);
-- Reports read the commits that began a transaction, or recorded a stage of a dispute, in their order.
create index order_history_begun on order_history (merchant_id, at, order_id, version)
  where events #>> '{0,kind}'
    in ('received', 'capture_asked', 'return_asked', 'void_asked', 'charged_back');

-- Which request led to which order, and how it was answered. The table is partitioned by serial
-- number, a UUID of version 7, which begins with the time.
create table requests (
  merchant_id bigint not null,
  serial      uuid not null,
  endpoint_id bigint not null,
  order_id    bigint,
  operation   text not null,
  at          timestamptz not null,
  answer      json not null,
  primary key (merchant_id, serial)
) partition by range (serial);
create table requests_default partition of requests default
  with (autovacuum_analyze_scale_factor = 0.2);

-- Refused requests, masked, for the portal (decision 0062). Nodes keep the latest of each merchant
-- and delete the others. Payments do not need this table.
create table refused_requests (
  merchant_id    bigint not null,
  at             timestamptz not null,
  serial         uuid not null,
  -- The endpoint or the endpoint group that the request's path names.
  entry_id       bigint not null,
  operation      text not null,
  version        text not null,
  code           text not null,
  -- Whether the merchant has signed the request. Anyone can send unsigned ones, so they never
  -- replace signed ones.
  authenticated  boolean not null,
  sent_from      text not null,
  client_orderid text not null,
  document       json not null,
  primary key (merchant_id, at, serial)
);
create index refused_requests_by_time on refused_requests (at, serial);
create index refused_requests_by_serial on refused_requests (serial);

-- How many refused requests were not kept, by day.
create table dropped_requests (
  merchant_id bigint not null,
  day         date not null,
  count       bigint not null,
  primary key (merchant_id, day)
);

-- Used nonces, which are kept for as long as their time stamps could be accepted.
create table oauth_nonces (
  merchant_id bigint not null,
  nonce       text not null,
  signed_at   timestamptz not null,
  -- The request that wrote the row. When its statement is sent again after a lost answer, the
  -- request recognises its own commit by it.
  claim       uuid,
  primary key (merchant_id, nonce)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index oauth_nonces_oldest on oauth_nonces (signed_at);

-- Used payment data of wallets, which is kept for as long as it could be sent again.
create table wallet_messages (
  merchant_id    bigint not null,
  wallet         text not null,
  message_id     text not null,
  -- Tells a repeated request from another one with the same payment data.
  digest         bytea not null,
  remember_until timestamptz not null,
  -- How many requests have brought the payment data and not released it. The same request may
  -- arrive several times at once, and a refused one must not release the payment data that another
  -- has paid with.
  holders        integer not null default 1,
  -- The request that wrote the row, as in oauth_nonces.
  claim          uuid,
  primary key (merchant_id, wallet, message_id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index wallet_messages_over on wallet_messages (remember_until);

-- References that merchants store instead of a card number. The card itself is in the vault.
create table card_references (
  merchant_id  bigint not null,
  id           bigint not null,
  purpose      text not null,
  card_id      bigint not null,
  endpoint_id  bigint not null,
  order_id     bigint not null,
  facts        json not null,
  created_at   timestamptz not null,
  removed_at   timestamptz,
  -- The user who removed the card. Null means that the operator removed it.
  removed_by   text,
  -- When the card's data was destroyed. Until then, payments that were made with the card can be
  -- captured, refunded and reversed.
  destroyed_at timestamptz,
  -- Counts the changes of the facts. A change is written only to the version that it was made from.
  version      integer not null default 1,
  -- When a recurring payment profile was stopped.
  stopped_at   timestamptz,
  -- The request that has created a recurring payment profile, and the digest of its fingerprint, as
  -- in orders. Null for the other ids of the card.
  client_orderid text,
  digest       bytea,
  digest_key   integer,
  primary key (merchant_id, id)
);
-- A card is registered once, however many requests ask at the same moment.
create unique index card_references_by_card on card_references (merchant_id, card_id, purpose);
-- Only one of several concurrent requests with a client order id creates a profile.
create unique index card_references_by_client_orderid on card_references (merchant_id, client_orderid)
  where client_orderid is not null;
create index card_references_to_destroy on card_references (removed_at)
  where removed_at is not null and destroyed_at is null;

-- Payment links (decision 0056). `amount` is in minor units, times are in milliseconds.
create table payment_links (
  merchant_id  bigint not null,
  id           bigint not null,
  endpoint_id  bigint not null,
  amount       bigint not null,
  currency     text not null,
  description  text not null,
  return_url   text,
  callback_url text,
  created_at   bigint not null,
  created_by   text not null,
  expires_at   bigint,
  closed_at    bigint,
  -- How many orders may be paid. Null means any number.
  uses_max     int,
  -- The payment pages that count as uses of the link. Writers lock the row, so that the count is
  -- exact.
  uses         text[] not null default '{}',
  primary key (merchant_id, id)
);

-- Callbacks to merchants. A row is written with the step that ended a transaction, and its text is
-- made from the order when it is sent. A URL gets the callbacks of one order in their sequence.
create table callbacks (
  merchant_id bigint not null,
  order_id    bigint not null,
  -- The transaction's place in its order, and 10,000 more for each URL beside the order's own.
  sequence    integer not null,
  serial      uuid not null,
  url         text not null,
  -- Host and port of the URL, so that every spelling of an address counts against the same limits.
  receiver    text not null default '',
  made_at     timestamptz not null,
  -- The age at which the callback is given up is counted from this time: when the callback was
  -- created, when a user had it sent again, or when the callback before it had ended.
  begun_at    timestamptz not null default now(),
  -- From this time on, any node may send the callback. Null means that delivery has ended.
  due_at      timestamptz,
  tries       integer not null default 0,
  ended       text check (ended in ('delivered', 'stopped', 'given_up')),
  ended_at    timestamptz,
  -- When a user last had the callback sent again, and which user.
  resent_at   timestamptz,
  resent_by   text,
  primary key (merchant_id, order_id, sequence),
  check ((ended is null) = (due_at is not null))
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2);
create index callbacks_due on callbacks (due_at) where due_at is not null;
create index callbacks_made on callbacks (made_at);

-- Every attempt, with the answer of the merchant's server.
create table callback_attempts (
  merchant_id bigint not null,
  order_id    bigint not null,
  sequence    integer not null,
  at          timestamptz not null,
  node        text not null,
  method      text not null,
  url         text not null,
  body        text not null default '',
  status      integer,
  failure     text,
  duration_ms integer not null,
  answer      text not null default '',
  primary key (merchant_id, order_id, sequence, at, node)
) partition by range (at);
create table callback_attempts_default partition of callback_attempts default
  with (autovacuum_analyze_scale_factor = 0.2);

-- Chargebacks by date. A row only finds the order, which decides.
create table chargebacks (
  merchant_id bigint not null,
  order_id    bigint not null,
  case_id     text not null,
  stage       text not null,
  amount      bigint not null,
  currency    text not null,
  reason      text not null,
  at          timestamptz not null,
  recorded_at timestamptz not null,
  primary key (merchant_id, order_id, case_id, stage)
);
create index chargebacks_by_date on chargebacks (at);

-- The latest payments of a card, an email address and so on, which screening counts (decision
-- 0048). Times are in milliseconds. No index contains `keep_until`, so that an update writes no
-- index entries. A row with the latest 128 payments has 5.7 kB and stays in its page.
create table screening_tallies (
  -- Merchant 0 has the rows of rules that count over all merchants of the cell.
  merchant_id bigint not null,
  -- A keyed digest of what is counted and where.
  key         uuid not null,
  first_at    bigint not null,
  keep_until  bigint not null,
  -- Records of fixed length, the latest last.
  events      bytea not null,
  primary key (merchant_id, key)
) with (fillfactor = 70, toast_tuple_target = 8160);

-- The sum that an endpoint has paid out on a day, in minor units, or the number of payouts to a card.
create table payout_days (
  merchant_id bigint not null,
  -- A keyed digest of the endpoint, or the card, and the day.
  key         uuid not null,
  counted     bigint not null,
  -- In milliseconds; the row is deleted after it.
  keep_until  bigint not null,
  primary key (merchant_id, key)
);

-- The orders as the portal lists, searches and sums them up (decision 0058). A background job of
-- the nodes fills this table and the next. Payments do not need them, and both can be made again
-- from orders.
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
  -- The transaction that began the order: its status, why it was not approved, and 3-D Secure.
  outcome        text not null,
  reason         text not null,
  threeds        text not null,
  -- The gateway's own processing time, without the time of the acquirer. Null if the order waited
  -- for a cardholder, or has no answer of the acquirer.
  overhead_ms    integer,
  amount         bigint not null,
  -- The amount of an approved order that is left after refunds and chargebacks.
  net            bigint,
  currency       text not null,
  network        text not null,
  last_four      text not null,
  email          text not null,
  name           text not null default '',
  gate           text not null,
  reference      text not null,
  -- The words for searches and filters, each with a letter for its kind.
  words          text[] not null,
  -- Words of the customer, such as the name and the email address, which are found by their
  -- beginnings (decision 0085).
  people         text[] not null default '{}',
  primary key (merchant_id, at, order_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.2);
create index order_index_by_time on order_index (at, order_id);
-- New words first go to a list of pending entries. The insertion that makes the list larger than
-- this limit, in kilobytes, merges it into the index.
create index order_index_words on order_index using gin (words) with (gin_pending_list_limit = 64);
create index order_index_people on order_index using gin (array_to_tsvector(people))
  with (gin_pending_list_limit = 64);

-- Counts and sums by minute, hour and day. Merchant 0 has those of all merchants of the cell.
create table order_figures (
  merchant_id bigint not null,
  grain       text not null check (grain in ('minute', 'hour', 'day')),
  at          timestamptz not null,
  name        text not null,
  key         text not null,
  count       bigint not null,
  primary key (merchant_id, grain, at, name, key)
) with (fillfactor = 70, autovacuum_analyze_threshold = 1000);

-- This table has one row. A writer locks it, so that one order is counted once. Steps up to
-- `swept_at` were searched for orders that no node has indexed.
create table order_index_progress (
  one       boolean primary key default true check (one),
  swept_at  timestamptz not null default now(),
  -- Orders that were stored without a step, such as generated ones, are indexed up to this id. Null
  -- means that all of them are.
  walked_id bigint default 0
);
insert into order_index_progress default values;

-- The position of the search for expired cards, for each retention period in days. The row of 0
-- days has a hash of the rules instead.
create table retention_walks (
  days      integer primary key,
  after_id  bigint not null default 0,
  walked_at timestamptz not null
);

-- Merchants that have moved to another cell: nothing of theirs is written in this one any more.
create table moved_merchants (
  merchant_id bigint primary key,
  moved_at    timestamptz not null default now()
);

-- A copy of the list of the vault's keys. A statement that writes a card takes a shared lock on its
-- key's row, and a statement that destroys the key takes an exclusive one, so that no card is ever
-- written under a destroyed key. The first writer of a key adds its row, and the row remains after
-- the key is destroyed.
create table card_keys (
  id           integer primary key,
  destroyed_at timestamptz
);

-- Cards that are about to be destroyed. No new payment can use them, but orders in flight or in
-- doubt can still send what they owe (decision 0040). This table and those below belong to the
-- vault.
create table condemned_cards (
  merchant_id  bigint not null,
  id           bigint not null,
  why          text not null,
  condemned_at timestamptz not null,
  primary key (merchant_id, id)
);

-- Sealed cards. Nodes may add cards but not read them.
create table cards (
  merchant_id bigint not null,
  id          bigint not null,
  key_id      integer not null,
  sealed      bytea not null,
  fingerprint bytea not null,
  created_at  timestamptz not null default now(),
  primary key (merchant_id, id)
);

-- Cards with their CVV while an order waits for the cardholder. Unlogged: they are not in the
-- write-ahead log, in a backup or on a replica (decision 0015). A vacuum frees the space of deleted
-- rows; their bytes are on the disk until it is used again.
create unlogged table held_secrets (
  context    text primary key,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);

-- The keys that decrypt the rows of held_secrets are stored separately, in this table.
create unlogged table held_keys (
  context    text primary key,
  key_id     integer not null,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);

-- The vault's tables have a schema of their own in the first cell.
do $$
declare
  own text;
begin
  if to_regclass('cells') is null then return; end if;
  foreach own in array array['cards', 'held_secrets', 'held_keys'] loop
    execute format('alter table %I set schema vault', own);
  end loop;
end $$;

-- Wide columns that are only read by a key need few statistics. Analysing thirty thousand rows took
-- a core a third of a second, and payments waited for it.
-- Compression of `events` would take most of the time of counting a payer with many payments. Citus
-- refuses to change what is collected of a column, and passes no change of a column's storage on to
-- the table's shard: `addCell` changes the shard, once this transaction has made it.
do $$
declare
  place regclass;
  wide name;
  is_distributed boolean := false;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute $check$select exists (
      select from pg_dist_partition where logicalrelid = 'orders'::regclass)$check$
      into is_distributed;
  end if;
  if is_distributed then
    perform set_config('citus.enable_ddl_propagation', 'off', true);
  end if;
  alter table screening_tallies alter column events set storage external;
  if is_distributed then
    perform set_config('citus.enable_ddl_propagation', 'on', true);
    return;
  end if;
  for place, wide in
    select attrelid::regclass, attname from pg_attribute
    where attrelid in ('orders'::regclass, 'order_index'::regclass) and attnum > 0
      and not attisdropped
  loop
    execute format('alter table %s alter column %I set statistics 10', place, wide);
  end loop;
  alter index order_index_people alter column 1 set statistics 10;
end $$;
