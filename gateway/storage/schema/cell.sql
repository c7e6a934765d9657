-- The tables of a cell: its merchants' orders and what belongs to them. Table names have no schema,
-- because each connection's search_path is the schema of its cell. The key of every large table
-- starts with merchant_id, so that the table can be spread over servers. There are no triggers or
-- foreign keys.

-- All orders. Every step of an order replaces `progress`; only a try on the payment page and an
-- erasure replace `facts`. A step changes no indexed column, so that PostgreSQL writes no index
-- entries (a HOT update), and the fillfactor leaves room on the page for the next version of a row.
-- Rows are updated soon after their insert, so vacuums are frequent and small.
create table orders (
  merchant_id    bigint not null,
  -- Unique in the installation, because hosts and directory servers name an order by its id alone.
  id             bigint not null primary key,
  endpoint_id    bigint not null,
  client_orderid text not null,
  -- The number of this order among those with its client order id, from 1.
  attempt        integer not null,
  -- The digest of the request's fingerprint, by which a repeat of the request is recognised.
  digest         bytea not null,
  -- The number of the vault's key by which the digest was made. Zero if the digest was deleted.
  digest_key     integer not null,
  -- The digest of the CVV, whose key is destroyed within a quarter of an hour (decision 0041).
  cvv_digest     bytea,
  version        integer not null,
  kind           text not null,
  stage          text not null,
  owes           text,
  -- The node that runs the order and holds its lease.
  carrier        text,
  amount         bigint not null,
  currency       text not null,
  accepted_at    timestamptz not null,
  -- The time of the last step, in milliseconds since 1970. A step is written only if the order
  -- still has the version and the time from which the step was made. After a failover to a standby
  -- that lacks the last commits, another step may have the same version, but not the same time.
  changed_at     float8 not null,
  finished_at    timestamptz,
  facts          json not null,
  progress       json not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2,
  autovacuum_vacuum_cost_limit = 1000);
create unique index orders_by_client_orderid on orders (merchant_id, client_orderid, attempt);

-- The times when nodes must look at orders. A row is valid for one version of its order only.
create table due (
  due_at      timestamptz not null,
  order_id    bigint not null,
  version     integer not null,
  merchant_id bigint not null,
  node        text,
  primary key (due_at, order_id, version)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);

-- The tables that only grow have a partition for each month, which storage/schema/partitions.ts
-- makes ahead of time and drops when it is old. A row without a partition goes to the default
-- partition, so that no payment waits.

-- The history of orders. Each commit adds a row with the events that led to the next version.
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
-- Reconciliation uses this index to find the orders with steps since the beginning of a day.
create index order_history_by_time on order_history using brin (at) with (pages_per_range = 32);
-- Reports use this index to find, by time, the events that began a transaction or a chargeback.
create index order_history_begun on order_history (merchant_id, at, order_id, version)
  where events #>> '{0,kind}'
    in ('received', 'capture_asked', 'return_asked', 'void_asked', 'charged_back');

-- Merchants' requests: the order that a request led to, and its answer. The partitions are by
-- serial number, a UUID of version 7, which begins with the time.
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

-- Refused requests with masked card data, for the portal (decision 0062). Nodes keep the latest
-- ones of each merchant. Payments do not use this table.
create table refused_requests (
  merchant_id    bigint not null,
  at             timestamptz not null,
  serial         uuid not null,
  -- The endpoint or the group that the path of the request names.
  entry_id       bigint not null,
  operation      text not null,
  version        text not null,
  code           text not null,
  -- Whether the merchant signed the request. Unsigned requests never replace signed ones.
  authenticated  boolean not null,
  sent_from      text not null,
  client_orderid text not null,
  document       json not null,
  primary key (merchant_id, at, serial)
);
create index refused_requests_by_time on refused_requests (at, serial);
create index refused_requests_by_serial on refused_requests (serial);

-- The number of refused requests that were not stored, by day.
create table dropped_requests (
  merchant_id bigint not null,
  day         date not null,
  count       bigint not null,
  primary key (merchant_id, day)
);

-- Used nonces of OAuth signatures, kept for as long as their time stamps are accepted.
create table oauth_nonces (
  merchant_id bigint not null,
  nonce       text not null,
  signed_at   timestamptz not null,
  -- The id of the request that wrote the row. By this id, a request that is repeated after a lost
  -- answer of the database recognises its own row.
  claim       uuid,
  primary key (merchant_id, nonce)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index oauth_nonces_oldest on oauth_nonces (signed_at);

-- Used payment data of wallets, kept for as long as the data could be sent again.
create table wallet_messages (
  merchant_id    bigint not null,
  wallet         text not null,
  message_id     text not null,
  -- The digest of the fingerprint of the request that uses the payment data. A repeat of the
  -- request has the same digest. A request with another digest is refused.
  digest         bytea not null,
  remember_until timestamptz not null,
  -- How many tries of the request use the payment data. If one of several simultaneous tries is
  -- refused, the payment data stays in use for the others.
  holders        integer not null default 1,
  -- The id of the request that wrote the row, as in the table oauth_nonces.
  claim          uuid,
  primary key (merchant_id, wallet, message_id)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index wallet_messages_over on wallet_messages (remember_until);

-- The tickets of hosted fields, and the tokens that they become. Both live for minutes, and the card
-- of a token is in held_secrets, so the table is unlogged as that one is (decision 0100).
create unlogged table hosted_fields (
  merchant_id bigint not null,
  -- The digest of the ticket, and after the tokenization that of the token.
  digest      bytea not null,
  -- The digest of the request that begins the token's order, which tells its repeat from another
  -- request with the same token.
  spent_by    bytea,
  -- The number of such requests at work. A refused request leaves the token to the others.
  holders     integer not null default 0,
  expires_at  timestamptz not null,
  primary key (merchant_id, digest)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index hosted_fields_over on hosted_fields (expires_at);

-- References that merchants store instead of card numbers, which are in the vault.
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
  -- The kind of user who removed the card: `merchant` or `operator`. Null also means `operator`.
  removed_by   text,
  -- When the card number was destroyed. Until then, payments can be captured, refunded, reversed.
  destroyed_at timestamptz,
  -- Increases with `facts`. A change is written only to the version from which it was made.
  version      integer not null default 1,
  -- The time when a recurring payment profile was stopped.
  stopped_at   timestamptz,
  -- For a recurring payment profile: the client order id of the request that created it, and the
  -- digest of the request's fingerprint, as in the table orders.
  client_orderid text,
  digest       bytea,
  digest_key   integer,
  primary key (merchant_id, id)
);
-- Keeps simultaneous requests from registering a card twice.
create unique index card_references_by_card on card_references (merchant_id, card_id, purpose);
-- Keeps simultaneous requests from creating two profiles with one client order id.
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
  -- How many orders can be paid with the link. Null means any number.
  uses_max     int,
  -- The orders of payment pages that use the link. Writers lock the row, so that none is missed.
  uses         text[] not null default '{}',
  -- MOTO for the page of an order by mail or telephone.
  channel      text,
  primary key (merchant_id, id)
);

-- Callbacks to merchants. The step that ends a transaction writes the row, and the text of the
-- callback is made when it is sent. The callbacks of an order to one URL are sent one after the
-- other.
create table callbacks (
  merchant_id bigint not null,
  order_id    bigint not null,
  -- The transaction's position in its order. Each URL after the order's own URLs adds 10,000.
  sequence    integer not null,
  serial      uuid not null,
  url         text not null,
  -- Host and port of the URL. Limits apply to each receiver, however its URL is written.
  receiver    text not null default '',
  made_at     timestamptz not null,
  -- The time from which the callback's age counts, which decides when it is given up: when it was
  -- created or sent again, or when the callback before it ended.
  begun_at    timestamptz not null default now(),
  -- The time from which any node may send the callback. Null if its delivery has ended.
  due_at      timestamptz,
  tries       integer not null default 0,
  ended       text check (ended in ('delivered', 'stopped', 'given_up')),
  ended_at    timestamptz,
  -- When a user last sent the callback again, and which user.
  resent_at   timestamptz,
  resent_by   text,
  primary key (merchant_id, order_id, sequence),
  check ((ended is null) = (due_at is not null))
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2);
create index callbacks_due on callbacks (due_at) where due_at is not null;
create index callbacks_made on callbacks (made_at);

-- The attempts to deliver callbacks, with the answers of the merchants' servers.
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

-- Chargebacks by date, for searches. The state of a dispute is in the order itself.
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

-- The latest payments of each card, email address and so on, which screening counts (decision
-- 0048). Times are in milliseconds since 1970. No index contains `keep_until`, so that an update
-- writes no index entries. A row has at most 128 payments in 5.7 kB, which fit into a page of
-- PostgreSQL.
create table screening_tallies (
  -- The merchant. Zero for rules that count the payments of all merchants of the cell.
  merchant_id bigint not null,
  -- A keyed digest of the counted value, such as a card, and of the scope of the rule.
  key         uuid not null,
  first_at    bigint not null,
  keep_until  bigint not null,
  -- The payments, as records of a fixed length. The latest payment is the last.
  events      bytea not null,
  primary key (merchant_id, key)
) with (fillfactor = 70, toast_tuple_target = 8160);

-- What an endpoint has paid out on a day, in minor units, or the number of payouts to a card.
create table payout_days (
  merchant_id bigint not null,
  -- A keyed digest of the day and the endpoint or card.
  key         uuid not null,
  counted     bigint not null,
  -- The time, in milliseconds, after which the row is deleted.
  keep_until  bigint not null,
  primary key (merchant_id, key)
);

-- The orders as the portal lists, searches and adds them up (decision 0058). Background jobs fill
-- this table, order_figures and statement_days. If all three are empty, the jobs can make them
-- again from the orders. Payments need none of them.
create table order_index (
  merchant_id    bigint not null,
  -- The time when the order was accepted.
  at             timestamptz not null,
  order_id       bigint not null,
  version        integer not null,
  endpoint_id    bigint not null,
  client_orderid text not null,
  kind           text not null,
  stage          text not null,
  status         text not null,
  -- The result of the first transaction, why it was not approved, and the result of 3-D Secure.
  outcome        text not null,
  reason         text not null,
  threeds        text not null,
  -- The processing time of the gateway without that of the acquirer. Null if the order waited for a
  -- cardholder or got no answer from the acquirer.
  overhead_ms    integer,
  amount         bigint not null,
  -- What is left of an approved order's amount after refunds and chargebacks.
  net            bigint,
  currency       text not null,
  network        text not null,
  last_four      text not null,
  email          text not null,
  name           text not null default '',
  gate           text not null,
  -- In three letters; empty for an unknown issuer.
  issuer_country text not null default '',
  reference      text not null,
  -- The words by which a search finds the order. The first letter of each tells its kind.
  words          text[] not null,
  -- Words of the customer's data, such as the name, found by their first letters (decision 0085).
  people         text[] not null default '{}',
  -- The movements of money that the table statement_days counts for the order: kind, day and amount
  -- of each, with commas between them. The day is the number of days since 1970.
  movements      text not null default '',
  primary key (merchant_id, at, order_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.2);
create index order_index_by_time on order_index (at, order_id);
-- New words wait in a list until it has this many kilobytes, and are then put into the index.
create index order_index_words on order_index using gin (words) with (gin_pending_list_limit = 64);
create index order_index_people on order_index using gin (array_to_tsvector(people))
  with (gin_pending_list_limit = 64);

-- Counts and sums by minute, hour and day. Merchant 0 stands for all merchants of the cell.
create table order_figures (
  merchant_id bigint not null,
  grain       text not null check (grain in ('minute', 'hour', 'day')),
  at          timestamptz not null,
  name        text not null,
  key         text not null,
  count       bigint not null,
  primary key (merchant_id, grain, at, name, key)
) with (fillfactor = 70, autovacuum_analyze_threshold = 1000);

-- The sums of the movements of money of a merchant's orders, in minor units (decision 0092). When
-- an order is indexed again, the sums change by what has changed in the order.
create table statement_days (
  merchant_id bigint not null,
  -- The day in the gateway's time zone, for chargebacks the acquirer's date.
  day         date not null,
  endpoint_id bigint not null,
  currency    text not null,
  gross       bigint not null,
  fees        bigint not null,
  returns     bigint not null,
  chargebacks bigint not null,
  payouts     bigint not null,
  -- The sum of payouts whose result is not final.
  pending     bigint not null,
  primary key (merchant_id, day, endpoint_id, currency)
) with (fillfactor = 70);

-- The progress of indexing, in a single row that every writer locks, so that no order is counted
-- twice. Up to `swept_at`, the history was searched for orders that no node has indexed.
create table order_index_progress (
  one       boolean primary key default true check (one),
  swept_at  timestamptz not null default now(),
  -- Orders without history are indexed by id, up to this id. Null if all are indexed.
  walked_id bigint default 0
);
insert into order_index_progress default values;

-- How far the search for expired cards has come, for each retention period, in days. The row with 0
-- days belongs to no search, and contains a hash of the retention rules.
create table retention_walks (
  days      integer primary key,
  after_id  bigint not null default 0,
  walked_at timestamptz not null
);

-- Merchants that have moved to another cell. Nothing is written for them in this cell.
create table moved_merchants (
  merchant_id bigint primary key,
  moved_at    timestamptz not null default now()
);

-- A copy of the list of the vault's keys. It prevents a card from being written under a destroyed
-- key: a statement that writes a card takes a shared lock on the row of its key, and one that
-- destroys a key an exclusive lock. The first use of a key adds its row, which is never deleted.
create table card_keys (
  id           integer primary key,
  destroyed_at timestamptz
);

-- Cards that will be destroyed. No new payment can use them, but orders in flight or in doubt can
-- still send their messages (decision 0040). This table and the next ones belong to the vault.
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

-- Cards and their CVVs while their orders wait for the cardholder. Unlogged tables are not in the
-- write-ahead log, in a backup or on a replica (decision 0015). The bytes of deleted rows are on
-- the disk until a vacuum frees their space and it is used again.
create unlogged table held_secrets (
  context    text primary key,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);

-- The keys that decrypt the rows of held_secrets.
create unlogged table held_keys (
  context    text primary key,
  key_id     integer not null,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);

-- In the main cell, the tables of the vault have a schema of their own.
do $$
declare
  own text;
begin
  if to_regclass('cells') is null then return; end if;
  foreach own in array array['cards', 'held_secrets', 'held_keys'] loop
    execute format('alter table %I set schema vault', own);
  end loop;
end $$;

-- PostgreSQL collects fewer statistics on the wide tables, which are read by keys, because
-- collecting them took a core a third of a second while payments waited. `events` is stored without
-- compression: decompression would take most of the time in which a payer's payments are counted.
-- Citus refuses to change statistics, and does not pass the storage of `events` on to the worker
-- server, where `addCell` sets it after this transaction.
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
