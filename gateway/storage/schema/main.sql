-- The tables that an installation has once: its configuration, its users, the records of operators'
-- work, and the vault's keys. The tables of orders are in cell.sql. docs/schema.md is drawn from
-- both files.

create sequence entry_point_ids start 1001;
create sequence merchant_ids start 101;
create sequence gate_ids start 11;

-- Merchants live in cells (decision 0034), schemas with the tables of their orders. The main cell
-- is in the schema that this file makes.
create table cells (
  name       text primary key check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
  -- The address of the database, sealed because it has a password. Null if it is the main database.
  sealed_url bytea,
  created_at timestamptz not null default now(),
  -- Whether Citus places the schema of the cell on a worker server (decision 0042).
  on_citus   boolean not null default false
);
insert into cells (name) values ('main');

-- The merchants, which may send orders.
create table merchants (
  id                      bigint primary key,
  login                   text not null unique,
  name                    text not null,
  cell                    text not null default 'main' references cells,
  enabled                 boolean not null default true,
  settings                json not null default '{}',
  created_at              timestamptz not null default now(),
  -- The control keys, sealed by the vault's keys. The old one is accepted until it is dropped.
  control_key             bytea not null,
  control_key_set_at      timestamptz,
  old_control_key         bytea,
  old_control_key_used_at timestamptz,
  -- Whether every user of the merchant must sign in with a second factor.
  demands_second_factor   boolean not null default false
);

-- Merchants that are being moved to another cell. The same command continues an interrupted move:
-- the cell in the merchant's row shows how far the move has come.
create table merchant_moves (
  merchant_id bigint primary key references merchants,
  from_cell   text not null references cells,
  to_cell     text not null references cells,
  begun_at    timestamptz not null default now()
);

-- Merchants' public keys for OAuth. A merchant has several while it changes its key.
create table merchant_keys (
  merchant_id bigint not null references merchants,
  id          bigint not null generated always as identity,
  name        text not null,
  public_key  text not null,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz,
  primary key (merchant_id, id)
);

-- The daily reports of transactions, for merchants that have a URL for them.
create table daily_reports (
  merchant_id bigint not null references merchants,
  day         date not null,
  -- The time when the first attempt became due.
  begun_at    timestamptz not null,
  -- The time of the next attempt. Null if there is none.
  due_at      timestamptz,
  ended       text check (ended in ('delivered', 'stopped', 'given_up')),
  -- The number of attempts, and the time and result of the latest. An attempt that the end of its
  -- node has interrupted does not count.
  tries       integer not null default 0,
  tried_at    timestamptz,
  status      integer,
  failure     text,
  primary key (merchant_id, day)
);

-- The gateway's connections to acquirers' hosts. The kind of a gate is the dialect of its host.
create table gates (
  id                      bigint primary key,
  name                    text not null unique,
  kind                    text not null,
  settings                json not null,
  created_at              timestamptz not null default now(),
  -- When the gate's last key was dropped. `gw doctor` warns that its messages are unauthenticated.
  authentication_ended_at timestamptz
);

-- The keys that authenticate messages to and from an acquirer's host, sealed by the vault's keys.
-- The gateway signs with the newest key that is in effect, and accepts answers under any key of the
-- gate.
create table gate_mac_keys (
  id             bigint generated always as identity primary key,
  gate_id        bigint not null references gates on delete cascade,
  algorithm      text not null,
  mac_bytes      integer not null check (mac_bytes in (4, 8)),
  sealed         bytea not null,
  check_value    text not null,
  created_at     timestamptz not null default now(),
  -- The time from which the gateway signs with a delivered key (decision 0029), unless the host has
  -- used it earlier. Null means at once.
  writes_at      timestamptz,
  -- The time until which answers under this key are accepted. Null if no newer key was delivered.
  verifies_until timestamptz,
  -- The digest of the delivered, still encrypted key. Null for a key that an operator has set.
  delivery       bytea
);

-- The zone keys, which encrypt the keys that hosts deliver. They are sealed by the vault's keys.
create table gate_zone_keys (
  gate_id     bigint primary key references gates on delete cascade,
  cipher      text not null check (cipher in ('tdes', 'aes')),
  -- The algorithm and the length of the MAC that the delivered keys are for.
  algorithm   text not null,
  mac_bytes   integer not null check (mac_bytes in (4, 8)),
  check_value text not null,
  sealed      bytea not null,
  -- The seconds between requests for the next key. Null means that the gateway never asks.
  every_s     integer check (every_s > 0),
  asked_at    timestamptz not null default now()
);

-- Digests of delivered keys in their encrypted form. A key that is delivered again is refused.
create table gate_key_deliveries (
  gate_id      bigint not null references gates on delete cascade,
  digest       bytea not null,
  delivered_at timestamptz not null,
  primary key (gate_id, digest)
);

-- The health of gates (decision 0097): the state, which a node changes if it is still as it has read
-- it. A gate without a row is healthy.
create table gate_health (
  gate_id bigint primary key references gates on delete cascade,
  state   text not null check (state in ('healthy', 'weakened', 'unhealthy')),
  since   timestamptz not null,
  why     text not null
);

-- What each node has seen of a gate's charges: in the latest window, and usually. Nodes write their
-- rows every second while they send charges.
create table gate_observations (
  gate_id bigint not null references gates on delete cascade,
  node    text not null,
  at      timestamptz not null,
  recent  json not null,
  usual   json not null,
  primary key (gate_id, node)
) with (fillfactor = 50);

-- The results of `gw reconcile`, which the portal shows: one for each gate, day and way of
-- comparison, either with the acquirer's file or with the totals of its host.
create table reconciliations (
  day         date not null,
  gate        text not null,
  way         text not null check (way in ('file', 'totals')),
  at          timestamptz not null default now(),
  by          text not null,
  agrees      boolean not null,
  matched     int not null,
  differences int not null,
  -- Totals and at most a thousand differences, as `gw reconcile --json` prints them.
  result      jsonb not null,
  primary key (day, gate, way)
);

create table endpoints (
  id          bigint primary key,
  merchant_id bigint not null references merchants,
  name        text not null,
  currency    text not null,
  enabled     boolean not null default true,
  settings    json not null default '{}',
  created_at  timestamptz not null default now()
);

-- What the operator has paid to merchants (decision 0092), which lowers their balances.
create table settlements (
  merchant_id bigint not null references merchants,
  -- The operator's reference of the payment, so that no payment is booked twice.
  reference   text not null,
  -- The endpoint that was paid for. Null if the payment was for all endpoints together.
  endpoint_id bigint references endpoints,
  -- The amount in minor units. Negative if it corrects another booking.
  amount      bigint not null,
  currency    text not null,
  booked_at   timestamptz not null default now(),
  primary key (merchant_id, reference)
);

-- The gates of each endpoint. Those with the lowest rank are tried first, and those of the same
-- rank share the orders by their weights.
create table endpoint_gates (
  endpoint_id bigint not null references endpoints,
  gate_id     bigint not null references gates,
  rank        integer not null check (rank > 0),
  weight      integer not null check (weight > 0),
  primary key (endpoint_id, gate_id)
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

-- Screening rules (decision 0048) of an endpoint, of a merchant, or of the installation if both are
-- null. The parameters are texts as operators type them.
create table screening_rules (
  id          bigint generated always as identity primary key,
  merchant_id bigint references merchants,
  endpoint_id bigint references endpoints,
  kind        text not null,
  parameters  json not null,
  action      text not null,
  enabled     boolean not null default true,
  created_at  timestamptz not null default now(),
  check (merchant_id is null or endpoint_id is null)
);

-- Allow and block lists (decision 0049). Nodes have them in memory, and read the rows whose version
-- is above the highest that they have read. A removed entry stays for some time as a row without a
-- value, so that nodes remove it from memory too.
create table list_entries (
  id          bigint generated always as identity primary key,
  version     bigint not null,
  list        text not null check (list in ('allow', 'block')),
  kind        text not null,
  -- The normalised value. The value of a card is its hash id, or a digest of its number.
  value       text not null,
  -- Merchant and endpoint are null if the entry applies everywhere. An endpoint's entry has both.
  merchant_id bigint references merchants,
  endpoint_id bigint references endpoints,
  expires_at  timestamptz,
  reason      text not null,
  added_by    text not null,
  added_at    timestamptz not null,
  removed_at  timestamptz,
  check (endpoint_id is null or merchant_id is not null)
);
create unique index list_entries_present
  on list_entries (list, kind, value, merchant_id, endpoint_id) nulls not distinct
  where removed_at is null;
create index list_entries_by_version on list_entries (version);

-- The version of the lists. A change locks this row first, so that versions are committed in order.
create table list_version (
  single  boolean primary key default true check (single),
  version bigint not null
);
insert into list_version (version) values (0);

-- The operator's BIN table, which tells a card's issuer by the first eleven digits of its number.
-- Nodes read the whole table into memory, so it has no index except its key.
create table issuer_ranges (
  first        bigint not null,
  last         bigint not null,
  bank_name    text,
  country      text,
  product_code text,
  product_name text,
  type_code    text,
  type_name    text,
  primary key (first, last),
  check (first between 0 and last and last < 100000000000)
);

-- The version of the BIN table, which a node compares with the version in its memory.
create table issuer_table (
  single    boolean primary key default true check (single),
  version   bigint not null,
  loaded_at timestamptz
);
insert into issuer_table (version) values (0);

-- The directory servers of 3-D Secure.
create table directory_servers (
  name     text primary key,
  networks text[] not null default '{}',
  settings jsonb not null
);

-- The card ranges that directory servers have sent. Their bounds have nineteen digits. Protocol 2
-- is EMV 3-D Secure, and protocol 1 is 3-D Secure 1.0.2.
create table card_ranges (
  directory  text not null references directory_servers on delete cascade,
  protocol   text not null check (protocol in ('1', '2')),
  first      text not null check (length(first) = 19),
  last       text not null check (length(last) = 19),
  version    text not null,
  method_url text,
  primary key (directory, protocol, first, last)
);

-- Requests for card ranges, by protocol, because a directory server may refuse one of the two.
create table card_range_lists (
  directory     text not null references directory_servers on delete cascade,
  protocol      text not null check (protocol in ('1', '2')),
  -- The time of the next request. While a node sends a request, the end of that node's lease.
  due_at        timestamptz not null default 'epoch',
  -- The claim of the node that sends a request. Only with this claim can it store the answer.
  claim         text,
  failures      integer not null default 0,
  -- The version of the protocol's messages that the server answered last.
  version       text,
  serial_number text,
  -- A value that changes with the ranges. A node reads the ranges only if this value has changed.
  stamp         text not null default '',
  primary key (directory, protocol)
);

-- Files below /.well-known/, by which wallets check who owns the payment page's domain.
create table well_known_files (
  name    text primary key,
  content text not null
);

-- Users of `gw` and of the portal (decision 0057). The rights of a role are in values/roles.ts. A
-- user without a password cannot sign in to the portal.
create table users (
  id                  bigint generated always as identity primary key,
  -- The login of a merchant's user ends with @ and the merchant's login. Other logins have no @.
  login               text not null unique,
  role                text not null,
  -- The merchant of the user. Null for an operator.
  merchant_id         bigint references merchants,
  enabled             boolean not null default true,
  created_at          timestamptz not null default now(),
  -- The time of the latest sign-in to the portal, or of the latest `gw` command.
  used_at             timestamptz,
  -- The Argon2id hash with its parameters and salt, as a PHC string.
  password            text,
  -- True if another person has set the password, which the user must replace before it expires.
  password_temporary  boolean not null default true,
  password_expires_at timestamptz,
  -- The hashes of passwords that the user had before, the latest first.
  earlier_passwords   text[] not null default '{}',
  -- The secret for the codes of the user's app, sealed by the vault's keys, and the time step of
  -- the latest code that was used. A code of that time step or an earlier one is refused.
  totp_sealed         bytea,
  totp_step           bigint not null default 0,
  -- The SHA-256 of each recovery code that was not used yet.
  recovery_codes      bytea[] not null default '{}'
);

create table passkeys (
  -- The id that the authenticator has given the passkey, in base64url.
  id           text primary key,
  user_id      bigint not null references users,
  public_key   bytea not null,
  counter      bigint not null,
  transports   text[] not null default '{}',
  name         text not null,
  created_at   timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id);

create table portal_sessions (
  -- The SHA-256 of the token in the session's cookie. An intruder who reads the table cannot use a
  -- session, because the token itself is not stored.
  digest               bytea primary key,
  user_id              bigint not null references users,
  began_at             timestamptz not null,
  seen_at              timestamptz not null,
  second_factor        boolean not null default false,
  network              text not null,
  agent                text not null,
  -- The challenge that a passkey has to sign.
  challenge            text,
  challenge_expires_at timestamptz,
  -- The sealed secret for an app's codes, until the user confirms it by a code.
  pending_totp         bytea
);
create index portal_sessions_of_user on portal_sessions (user_id);

-- Counts of sign-in tries, by browser, by network and by login. A try is counted before the
-- password is compared. Each lock of a login lasts longer than the one before.
create table sign_in_tries (
  key        bytea primary key,
  tries      integer not null,
  locks      integer not null default 0,
  expires_at timestamptz not null
);

-- Requests for the approval of work by a second person.
create table approvals (
  id           bigint generated always as identity primary key,
  work         text not null,
  access_right text not null,
  merchant_id  bigint references merchants,
  asked_by     text not null,
  asked_at     timestamptz not null default now(),
  approved_by  text,
  approved_at  timestamptz,
  used_at      timestamptz
);

-- Saved filters of the list of orders, shared by the operators or by the users of a merchant.
create table order_views (
  id          bigint generated always as identity primary key,
  merchant_id bigint references merchants,
  name        text not null,
  -- The filters as in the page's URL, without a search's text, because it may name a person.
  query       text not null,
  shared_by   text not null,
  shared_at   timestamptz not null default now()
);
create unique index order_views_of_team on order_views (coalesce(merchant_id, 0), query);

-- The audit: who did what, when and from where. No entry names a person, a card or an address. The
-- hash of an entry covers the entry and the hash of the previous one (decision 0046).
create table audit (
  seq     bigint primary key,
  at      timestamptz not null,
  actor   text not null,
  -- The account and machine, or the network address, from which the user has acted.
  origin  text not null,
  action  text not null,
  subject text not null,
  reason  text,
  -- The type is json, because jsonb would change the texts that the hash covers.
  before  json,
  after   json,
  hash    bytea not null
);

-- The newest entry of the audit. A writer locks this row, so that entries form one sequence.
create table audit_head (
  one  boolean primary key default true check (one),
  seq  bigint not null,
  hash bytea not null
);
insert into audit_head (seq, hash) values (0, '');

-- The Ed25519 keys that sign the audit, sealed by the vault's keys. Public keys are never deleted.
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

-- Backups that were made. `gw doctor` and the metrics show the latest.
create table backups (
  id       bigint generated always as identity primary key,
  -- The time of the snapshot, and the time when the backup was complete.
  taken_at timestamptz not null,
  ended_at timestamptz not null default now(),
  place    text not null,
  rows     bigint not null,
  bytes    bigint not null,
  -- The SHA-256 of the backup's manifest, the file that lists its content.
  manifest text not null
);

-- Whether the installation is on hold (decision 0050), as after a restore, and sends nothing.
create table installation_hold (
  one         boolean primary key default true check (one),
  -- The id of the nodes' database server. A server with another id has a copy of the database.
  system_id   text,
  timeline    integer,
  -- The time when the hold began. Null if the installation is not on hold.
  since       timestamptz,
  why         text,
  verified_at timestamptz,
  -- The gates and days for which `gw reconcile` has run since the hold began.
  reconciled  text[] not null default '{}'
);
insert into installation_hold default values;

-- The sequence numbers from which acquirer references are made. They start from the current time,
-- to exceed those of an earlier database, whose references hosts may still remember.
do $$
begin
  execute format('create sequence order_sequence increment 1000 start %s',
                 (extract(epoch from now())::bigint - 1735689600) * 10000);
end $$;

-- The next order id. Ids are consecutive numbers of at most eleven digits (decision 0055).
create table order_numbers (
  one     boolean primary key default true check (one),
  next_id bigint not null check (next_id <= 100000000000)
);
insert into order_numbers (next_id) values (10000000);

-- The blocks of order ids and sequence numbers. A late answer of an acquirer names only the
-- sequence number, and the block leads to the order id.
create table order_blocks (
  first_sequence bigint primary key,
  first_id       bigint not null,
  size           integer not null check (size between 1 and 1000),
  -- The timeline of the server that issued the block. It changes when a standby takes over.
  timeline       integer not null
);

-- Takes a block of ids and a block of sequence numbers. None is issued twice, even if the database
-- has lost the latest blocks in a restore or a failover (decisions 0037, 0055).
--   own_time    the time of the node's machine, in seconds: the database's clock may be behind
--   reached     the end of the last sequence numbers that the node was given
--   is_first    the node has just connected, perhaps to a server that has lost blocks
--   reached_id  the end of the ids that the node was given
--   wanted      how many, at most a thousand
-- The function runs with its owner's rights, because the gateway's role may not set a sequence.
create function take_order_numbers(
  own_time float8, reached bigint, is_first boolean, reached_id bigint, wanted integer,
  out first_sequence bigint, out first_id bigint
) language plpgsql security definer set search_path = public, pg_temp as $$
declare
  -- A new sequence number is at least 10,000 times the number of seconds since 2025.
  epoch constant float8 := 1735689600;
  per_second constant bigint := 10000;
  day constant float8 := 86400;
  -- How many sequence numbers a failover skips: those of ten seconds. The standby lacks fewer of
  -- the failed server's numbers, and nodes reserve fewer at once.
  ahead constant bigint := 100000;
  database_time float8;
  minimum bigint;
  present bigint;
  newest bigint;
  takeovers integer := 0;
  timeline_now integer := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int;
  passed bigint;
  lost bigint := 0;
begin
  -- The lock lasts until the end of the transaction, so blocks are taken one after the other.
  perform pg_advisory_xact_lock(8583, 23);
  database_time := extract(epoch from clock_timestamp());
  minimum := floor((greatest(database_time, least(own_time, database_time + day)) - epoch)
                   * per_second);
  select last_value into present from order_sequence;
  select known.first_sequence,
    case when is_first and timeline_now <> known.timeline
      then least(greatest(timeline_now - known.timeline, 1), 100) else 0 end
  into newest, takeovers from order_blocks as known order by known.first_sequence desc limit 1;

  reached := greatest(minimum, reached);
  -- When two standbys take over one after the other, the second may lack the blocks of the first
  -- and have the same timeline. Their blocks differ because the clock has advanced: for each
  -- second, sequence numbers are ten thousand higher, and order ids a thousand higher.
  if takeovers > 0 then
    reached := greatest(reached, newest, present) + 100000 + 200000 * takeovers + minimum % 100000;
  end if;
  if is_first then
    -- If very many orders have moved the sequence far ahead of the clock, numbers are skipped from
    -- there.
    reached := greatest(reached,
      case when present < minimum + 2 * ahead then minimum else present end + ahead);
  end if;
  if present < reached then perform setval('order_sequence', reached); end if;
  first_sequence := nextval('order_sequence');

  if newest is null then
    -- After a failover, the server may not even know the first block of ids that it issued. A
    -- thousand ids for each second since 2025, modulo ten million, are skipped, so that none is
    -- issued twice.
    lost := first_sequence / 10 % 10000000;
  elsif is_first then
    -- The server may have lost the latest blocks. Sequence numbers follow the clock, so they show
    -- how long ago the newest known block was issued. Twice as many ids are skipped as were issued
    -- in an equal time before that block, and ten ids for each second besides, at most 9000.
    passed := greatest(first_sequence - newest, 1);
    select least(least(passed / 1000, 9000) + 2 * sum(known.size), 10000000) into lost
    from order_blocks as known
    where known.first_sequence > newest - passed;
    if takeovers > 0 then
      lost := lost + 100000 * takeovers + minimum / 10 % 1000000;
    end if;
  end if;
  update order_numbers set next_id = greatest(next_id + lost, reached_id) + wanted
  returning next_id - wanted into first_id;
  insert into order_blocks (first_sequence, first_id, size, timeline)
  values (take_order_numbers.first_sequence, take_order_numbers.first_id, wanted, timeline_now);
end $$;

create schema vault;

-- The keys of the vault, which seal its data and are sealed by the key-encryption key. A key is
-- current, later retired, at last destroyed: its bytes are deleted, and the row stays.
create table vault.keys (
  -- The id is a check value that is computed from the key.
  id           integer primary key,
  purpose      text not null,
  sealed       bytea,
  created_at   timestamptz not null default now(),
  retired_at   timestamptz,
  destroyed_at timestamptz,
  check ((sealed is null) = (destroyed_at is not null)),
  check (destroyed_at is null or retired_at is not null)
);
-- Prevents two nodes from both making the first key of a purpose.
create unique index keys_one_current on vault.keys (purpose) where retired_at is null;

-- The keys for digests of CVVs. Each is used for some minutes, and is destroyed a quarter of an
-- hour after its first use at the latest (decision 0041). An unlogged table is not in the
-- write-ahead log, in a backup or on a replica. A vacuum follows even a single deleted row, so that
-- the next row overwrites the key's bytes.
create unlogged table vault.cvv_keys (
  slot       bigint primary key,
  key_id     integer not null,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);

-- The keys with which customers' wallets encrypt payment data for a merchant, and the key with
-- which a merchant identifies itself to the wallet `walleta`. A merchant that renews its key has
-- two for the same wallet.
create table vault.wallet_keys (
  id          bigint primary key generated always as identity,
  merchant_id bigint not null,
  wallet      text not null check (wallet in ('walleta', 'walletb', 'walleta-identity')),
  -- The private key, sealed by the vault's keys.
  sealed      bytea not null,
  public_key  text not null,
  certificate text,
  expires_at  timestamptz,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz
);
