-- The tables that an installation has once: its configuration, its users, the books of operators,
-- and the vault's keys. The tables of orders are in cell.sql. docs/schema.md is drawn from both
-- files.

create sequence entry_point_ids start 1001;
create sequence merchant_ids start 101;
create sequence gate_ids start 11;

-- Merchants live in cells (decision 0034). A cell is a schema with the tables of its merchants'
-- orders; the first, `main`, is the schema of this file.
create table cells (
  name       text primary key check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
  -- The cell's address, sealed by the vault's keys because it contains a password. Null means that
  -- the cell is a schema of this database.
  sealed_url bytea,
  created_at timestamptz not null default now(),
  -- Whether the cell's schema is one that Citus places on a worker (decision 0042).
  on_citus   boolean not null default false
);
insert into cells (name) values ('main');

-- The merchants, who may send orders.
create table merchants (
  id                      bigint primary key,
  login                   text not null unique,
  name                    text not null,
  cell                    text not null default 'main' references cells,
  enabled                 boolean not null default true,
  settings                json not null default '{}',
  created_at              timestamptz not null default now(),
  -- Sealed by the vault's keys. The old control key is accepted until an operator removes it.
  control_key             bytea not null,
  control_key_set_at      timestamptz,
  old_control_key         bytea,
  old_control_key_used_at timestamptz,
  -- Whether every user of the merchant must sign in with a second factor.
  demands_second_factor   boolean not null default false
);

-- Merchants that are being moved from one cell to another. The same command continues a move that
-- was interrupted; how far it came follows from the merchant's cell.
create table merchant_moves (
  merchant_id bigint primary key references merchants,
  from_cell   text not null references cells,
  to_cell     text not null references cells,
  begun_at    timestamptz not null default now()
);

-- Public keys for OAuth. A merchant has several while it changes them.
create table merchant_keys (
  merchant_id bigint not null references merchants,
  id          bigint not null generated always as identity,
  name        text not null,
  public_key  text not null,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz,
  primary key (merchant_id, id)
);

-- The gateway's connections to acquirers' hosts. The kind is the host's dialect.
create table gates (
  id                      bigint primary key,
  name                    text not null unique,
  kind                    text not null,
  settings                json not null,
  created_at              timestamptz not null default now(),
  -- When an operator dropped the gate's last key. `gw doctor` warns of it.
  authentication_ended_at timestamptz
);

-- Keys that authenticate messages to and from an acquirer's host, sealed by the vault's keys. The
-- gateway signs with a gate's newest key that is in effect, and accepts answers that are signed
-- with any of its keys.
create table gate_mac_keys (
  id             bigint generated always as identity primary key,
  gate_id        bigint not null references gates on delete cascade,
  algorithm      text not null,
  mac_bytes      integer not null check (mac_bytes in (4, 8)),
  sealed         bytea not null,
  check_value    text not null,
  created_at     timestamptz not null default now(),
  -- The gateway signs with a key that the host delivered (decision 0029) from this time on, or as
  -- soon as the host has used the key. Null means at once.
  writes_at      timestamptz,
  -- Answers that are signed with the key are accepted until this time, which the delivery of a
  -- newer key sets. Null means without an end.
  verifies_until timestamptz,
  -- The digest of a delivered key under its zone key; null for a key that an operator has set.
  delivery       bytea
);

-- The key under which a gate's host delivers others, sealed by the vault's keys.
create table gate_zone_keys (
  gate_id     bigint primary key references gates on delete cascade,
  cipher      text not null check (cipher in ('tdes', 'aes')),
  -- The algorithm and the length of the MAC that the delivered keys are for.
  algorithm   text not null,
  mac_bytes   integer not null check (mac_bytes in (4, 8)),
  check_value text not null,
  sealed      bytea not null,
  -- How often the gateway asks for the next key. Null means never.
  every_s     integer check (every_s > 0),
  asked_at    timestamptz not null default now()
);

-- Digests of delivered keys under their zone key: a key that the host has delivered once is not
-- accepted again.
create table gate_key_deliveries (
  gate_id      bigint not null references gates on delete cascade,
  digest       bytea not null,
  delivered_at timestamptz not null,
  primary key (gate_id, digest)
);

-- What `gw reconcile` has found, for the portal: the latest comparison of each gate and day, by the
-- acquirer's file and by its host's totals.
create table reconciliations (
  day         date not null,
  gate        text not null,
  way         text not null check (way in ('file', 'totals')),
  at          timestamptz not null default now(),
  by          text not null,
  agrees      boolean not null,
  matched     int not null,
  differences int not null,
  -- Totals and differences, as `gw reconcile --json` prints them; the differences up to a thousand.
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

-- Gates of the lowest rank are tried first; those of one rank share the orders by weight.
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

-- Screening rules (decision 0048). A rule belongs to an endpoint, to a merchant or, without either,
-- to the gateway. Its parameters are texts, as the operator types them.
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

-- Allow and block lists (decision 0049). Nodes keep them in memory and read rows with a version
-- that is new to them. The row of a removed entry stays for a while, without its value, so that
-- nodes remove the entry too.
create table list_entries (
  id          bigint generated always as identity primary key,
  version     bigint not null,
  list        text not null check (list in ('allow', 'block')),
  kind        text not null,
  -- The normalised value. For a card, it is its hash id, or a digest of its number.
  value       text not null,
  -- An entry without merchant and endpoint applies to the whole gateway. An entry of an endpoint
  -- names its merchant too.
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

-- This table has one row. A change locks it before it writes, so that versions commit in their
-- order.
create table list_version (
  single  boolean primary key default true check (single),
  version bigint not null
);
insert into list_version (version) values (0);

-- The operator's BIN table: who issued a card, by the first eleven digits of its number. Nodes read
-- all of it into memory, so it has no index except its key.
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

-- This table has one row, the version of the BIN table. A node compares it with the version that it
-- has in memory.
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

-- The card ranges that directory servers have sent, with bounds of nineteen digits. Protocol 2 is
-- EMV 3-D Secure, protocol 1 is 1.0.2.
create table card_ranges (
  directory  text not null references directory_servers on delete cascade,
  protocol   text not null check (protocol in ('1', '2')),
  first      text not null check (length(first) = 19),
  last       text not null check (length(last) = 19),
  version    text not null,
  method_url text,
  primary key (directory, protocol, first, last)
);

-- The requests to a directory server and its answers, by protocol: a server that refuses the
-- messages of one protocol must not be asked more often with those of the other.
create table card_range_lists (
  directory     text not null references directory_servers on delete cascade,
  protocol      text not null check (protocol in ('1', '2')),
  -- The time from which a node may ask. While a node asks, it is the end of its lease.
  due_at        timestamptz not null default 'epoch',
  -- The node that asks now. A node that finds another's claim here stores nothing.
  claim         text,
  failures      integer not null default 0,
  -- The version of messages that was answered last.
  version       text,
  serial_number text,
  -- Changes with the ranges, so that nodes read only new ones.
  stamp         text not null default '',
  primary key (directory, protocol)
);

-- Files below /.well-known/, by which wallets check that the payment page's domain is the
-- merchant's.
create table well_known_files (
  name    text primary key,
  content text not null
);

-- Users of `gw` and of the portal (decision 0057). The rights of a role are a table in the code
-- (values/roles.ts). A user without a password cannot sign in to the portal.
create table users (
  id                  bigint generated always as identity primary key,
  -- The login of a merchant's user ends with @ and the merchant's login. No other login has an @.
  login               text not null unique,
  role                text not null,
  -- The merchant, if the role is one of a merchant's users.
  merchant_id         bigint references merchants,
  enabled             boolean not null default true,
  created_at          timestamptz not null default now(),
  -- The latest sign-in to the portal, or command of `gw`.
  used_at             timestamptz,
  -- The Argon2id hash with its parameters and salt, as a PHC string.
  password            text,
  -- Whether another person made the password, so that the user must replace it before it expires.
  password_temporary  boolean not null default true,
  password_expires_at timestamptz,
  -- Hashes of the user's own earlier passwords, the latest first.
  earlier_passwords   text[] not null default '{}',
  -- The secret of the codes, sealed by the vault's keys. The step is the latest whose code was
  -- used, so that no code counts twice.
  totp_sealed         bytea,
  totp_step           bigint not null default 0,
  -- The SHA-256 of each recovery code that was not used yet.
  recovery_codes      bytea[] not null default '{}'
);

create table passkeys (
  -- The authenticator's name for the passkey, in base64url.
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
  -- The SHA-256 of the random token in the cookie, so that reading the table opens no session.
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
  -- The sealed secret that a first code will confirm.
  pending_totp         bytea
);
create index portal_sessions_of_user on portal_sessions (user_id);

-- Tries to sign in, counted by browser, by network and by login before the password is compared.
-- Each lock of a login is longer than the one before.
create table sign_in_tries (
  key        bytea primary key,
  tries      integer not null,
  locks      integer not null default 0,
  expires_at timestamptz not null
);

-- Work that a user has requested and a second person has to approve.
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

-- Views of the list of orders that a team shares: the operators, or the users of a merchant.
create table order_views (
  id          bigint generated always as identity primary key,
  merchant_id bigint references merchants,
  name        text not null,
  -- The filters in the page's URL, without the search, which may name a person.
  query       text not null,
  shared_by   text not null,
  shared_at   timestamptz not null default now()
);
create unique index order_views_of_team on order_views (coalesce(merchant_id, 0), query);

-- The audit: who did what, when and from where. An entry never names a person, a card or an
-- address. The entries are a chain (decision 0046): a hash covers the entry and the previous hash.
create table audit (
  seq     bigint primary key,
  at      timestamptz not null,
  actor   text not null,
  -- The place from which the actor has acted.
  origin  text not null,
  action  text not null,
  subject text not null,
  reason  text,
  -- The text is hashed as it is stored, so these columns are not jsonb.
  before  json,
  after   json,
  hash    bytea not null
);

-- This table has one row, the newest entry. Its lock makes entries follow each other.
create table audit_head (
  one  boolean primary key default true check (one),
  seq  bigint not null,
  hash bytea not null
);
insert into audit_head (seq, hash) values (0, '');

-- The Ed25519 keys of the audit. The vault's keys seal the private key. The public key verifies old
-- signatures.
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

-- Backups that were made, for `gw doctor` and the metrics.
create table backups (
  id       bigint generated always as identity primary key,
  -- The moment of the data in the backup, and the moment when the backup was complete.
  taken_at timestamptz not null,
  ended_at timestamptz not null default now(),
  place    text not null,
  rows     bigint not null,
  bytes    bigint not null,
  -- The SHA-256 of the manifest.
  manifest text not null
);

-- This table has one row: whether the installation is on hold (decision 0050). A restored one sends
-- nothing until an operator releases it.
create table installation_hold (
  one         boolean primary key default true check (one),
  -- The server on which nodes work. Another server has a copy of the database.
  system_id   text,
  timeline    integer,
  -- Null while payments go on.
  since       timestamptz,
  why         text,
  verified_at timestamptz,
  -- The gates whose books were compared since then.
  reconciled  text[] not null default '{}'
);
insert into installation_hold default values;

-- Sequence numbers, from which acquirers' references are made. They follow the clock, so that a
-- host that remembers references never meets one of an earlier database again.
do $$
begin
  execute format('create sequence order_sequence increment 1000 start %s',
                 (extract(epoch from now())::bigint - 1735689600) * 10000);
end $$;

-- This table has one row: the next order id. Ids are a plain sequence of at most eleven digits
-- (decision 0055).
create table order_numbers (
  one     boolean primary key default true check (one),
  next_id bigint not null check (next_id <= 100000000000)
);
insert into order_numbers (next_id) values (10000000);

-- Which ids belong to which sequence numbers: an acquirer's late answer only names the latter.
create table order_blocks (
  first_sequence bigint primary key,
  first_id       bigint not null,
  size           integer not null check (size between 1 and 1000),
  -- The timeline of the server that issued the block. A standby that takes over begins another one.
  timeline       integer not null
);

-- Takes a block of ids and a block of sequence numbers. None repeats, also when the database has
-- lost the latest blocks in a restore or a failover (decisions 0037, 0055).
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
  -- Sequence numbers begin no lower than 10,000 for each second since 2025.
  epoch constant float8 := 1735689600;
  per_second constant bigint := 10000;
  day constant float8 := 86400;
  -- The gap of ten seconds covers nodes that begin together, and blocks that a standby has not
  -- received.
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
  -- When two standbys take over one after the other, the second may lack the blocks of the first.
  -- Standbys that do not know of each other may begin the same timeline: the clock separates
  -- them, here by ten thousand numbers a second, below by a thousand ids a second.
  if takeovers > 0 then
    reached := greatest(reached, newest, present) + 100000 + 200000 * takeovers + minimum % 100000;
  end if;
  if is_first then
    -- The sequence can only be far ahead of the clock after more orders than it is designed for.
    reached := greatest(reached,
      case when present < minimum + 2 * ahead then minimum else present end + ahead);
  end if;
  if present < reached then perform setval('order_sequence', reached); end if;
  first_sequence := nextval('order_sequence');

  if newest is null then
    -- The server may have lost the very first block, so a thousand ids are skipped for each second.
    lost := first_sequence / 10 % 10000000;
  elsif is_first then
    -- The server may have lost the latest blocks. Sequence numbers follow the clock, so they show
    -- how old its newest known block is. For safety the function skips twice as many ids as were
    -- issued in a period of that length before the block, and ten for each second of the first
    -- quarter of an hour.
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

-- Keys that seal the vault's data and are sealed themselves. A key is current, then retired, then
-- destroyed: its bytes are deleted, and the row stays as a record of the key and its end.
create table vault.keys (
  -- A check value of the key.
  id           integer primary key,
  purpose      text not null,
  sealed       bytea,
  created_at   timestamptz not null default now(),
  retired_at   timestamptz,
  destroyed_at timestamptz,
  check ((sealed is null) = (destroyed_at is not null)),
  check (destroyed_at is null or retired_at is not null)
);
-- Two nodes must not both make the first keys.
create unique index keys_one_current on vault.keys (purpose) where retired_at is null;

-- Keys for the digests of CVVs: each is made for some minutes, and destroyed a quarter of an hour
-- after its first use at the latest (decision 0041). Unlogged: neither the write-ahead log nor a
-- backup nor a replica has them. A vacuum frees the space of a deleted row, and what is written
-- there next overwrites its bytes. Therefore even a single deleted row causes a vacuum.
create unlogged table vault.cvv_keys (
  slot       bigint primary key,
  key_id     integer not null,
  sealed     bytea not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);

-- The keys for which customers' wallets encrypt, and the one with which a merchant identifies
-- itself to walleta. A merchant has several for one wallet while they are renewed.
create table vault.wallet_keys (
  id          bigint primary key generated always as identity,
  merchant_id bigint not null,
  wallet      text not null check (wallet in ('walleta', 'walletb', 'walleta-identity')),
  -- The private key.
  sealed      bytea not null,
  public_key  text not null,
  certificate text,
  expires_at  timestamptz,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz
);
