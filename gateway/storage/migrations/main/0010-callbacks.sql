-- What merchants are owed to be told. A row is written with the step that ended a transaction; its
-- text is made from the order when it is sent. One order's are told in their sequence.
create table callbacks (
  merchant_id bigint not null,
  order_id    bigint not null,
  -- The transaction's place in its order.
  sequence    integer not null,
  serial      uuid not null,
  url         text not null,
  made_at     timestamptz not null,
  -- From when on any node may send it; nothing when that is over.
  due_at      timestamptz,
  tries       integer not null default 0,
  ended       text check (ended in ('delivered', 'stopped', 'given_up')),
  ended_at    timestamptz,
  primary key (merchant_id, order_id, sequence),
  check ((ended is null) = (due_at is not null))
);
create index callbacks_due on callbacks (due_at) where due_at is not null;
create index callbacks_made on callbacks (made_at);

-- Every try, for whoever wants to know why a shop has not heard.
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
