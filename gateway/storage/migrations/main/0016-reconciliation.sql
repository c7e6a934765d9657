-- Reconciliation reads the orders that were finished since a day began. A BRIN index costs the
-- commit of an order next to nothing, and PostgreSQL 16 and later still update the row in place.
create index orders_finished on orders using brin (finished_at) with (pages_per_range = 32);

-- Chargebacks by date. The order is the record; a row here finds it again.
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
