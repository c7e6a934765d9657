-- compatible-from: 0001
-- locks: nothing
-- Cards that are about to be destroyed: nothing new begins with them, and what an order in flight or
-- in doubt still has to send may use them (decision 0040). The table belongs to the vault.
create table condemned_cards (
  merchant_id  bigint not null,
  id           bigint not null,
  why          text not null,
  condemned_at timestamptz not null,
  primary key (merchant_id, id)
);

-- How far the orders were looked through for cards that are kept for so many days.
create table retention_walks (
  days      integer primary key,
  after_id  bigint not null default 0,
  walked_at timestamptz not null
);
