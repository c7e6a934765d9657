-- The tables of a cell, as the files in `main/` have made them in the first cell, where this file
-- counts as applied. Names have no schema: the connection's search_path is the cell's.

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
create index orders_by_id on orders using brin (id) with (pages_per_range = 32);
create index orders_by_receipt on orders (
  merchant_id,
  (case when kind in ('capture', 'refund', 'reversal', 'cancel')
     then progress #>> '{earlier,0,receiptId}' else progress #>> '{transaction,receiptId}' end)
) where stage = 'approved' or kind in ('capture', 'refund', 'reversal', 'cancel');
create index orders_finished on orders using brin (finished_at) with (pages_per_range = 32);

create table order_history (
  merchant_id bigint not null,
  order_id    bigint not null,
  version     integer not null,
  at          timestamptz not null,
  node        text not null,
  events      json not null,
  primary key (merchant_id, order_id, version)
);

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
  removed_by   text,
  destroyed_at timestamptz,
  primary key (merchant_id, id)
);

create unique index card_references_by_card on card_references (merchant_id, card_id, purpose);
create index card_references_to_destroy on card_references (removed_at)
  where removed_at is not null and destroyed_at is null;

create table oauth_nonces (
  merchant_id bigint not null,
  nonce       text not null,
  signed_at   timestamptz not null,
  primary key (merchant_id, nonce)
);

create index oauth_nonces_oldest on oauth_nonces (signed_at);

create table wallet_messages (
  merchant_id    bigint not null,
  wallet         text not null,
  message_id     text not null,
  digest         bytea not null,
  remember_until timestamptz not null,
  holders        integer not null default 1,
  primary key (merchant_id, wallet, message_id)
);
create index wallet_messages_over on wallet_messages (remember_until);

create table callbacks (
  merchant_id bigint not null,
  order_id    bigint not null,
  sequence    integer not null,
  serial      uuid not null,
  url         text not null,
  made_at     timestamptz not null,
  due_at      timestamptz,
  tries       integer not null default 0,
  ended       text check (ended in ('delivered', 'stopped', 'given_up')),
  ended_at    timestamptz,
  receiver    text not null default '',
  begun_at    timestamptz not null default now(),
  primary key (merchant_id, order_id, sequence),
  check ((ended is null) = (due_at is not null))
);
create index callbacks_due on callbacks (due_at) where due_at is not null;
create index callbacks_made on callbacks (made_at);

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
  answer      text not null default ''
);
create index callback_attempts_of on callback_attempts (merchant_id, order_id, sequence, at);

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

-- Tables of the vault: nodes may add cards, and read none of these.
create table cards (
  merchant_id bigint not null,
  id          bigint not null,
  key_id      integer not null,
  sealed      bytea not null,
  fingerprint bytea not null,
  created_at  timestamptz not null default now(),
  primary key (merchant_id, id)
);

create unlogged table held_secrets (
  context    text primary key,
  sealed     bytea not null,
  expires_at timestamptz not null
);

create unlogged table held_keys (
  context    text primary key,
  key_id     integer not null,
  sealed     bytea not null,
  expires_at timestamptz not null
);

-- A copy of the list of the vault's keys. The statement that writes a card locks its key's row for
-- sharing, the one that destroys the key locks it alone: no card is written under a destroyed key,
-- however late its writer is. A key is listed by its first writer; a destroyed one stays listed.
create table card_keys (
  id           integer primary key,
  destroyed_at timestamptz
);

-- Merchants that live in another cell by now: nothing of theirs is written here any more.
create table moved_merchants (
  merchant_id bigint primary key,
  moved_at    timestamptz not null default now()
);
