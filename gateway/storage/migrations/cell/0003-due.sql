-- compatible-from: 0001
-- locks: orders, while a unique index of their ids is made: some seconds for each million
-- When a node must look at an order. A row is a hint for one version of the order; the order is the
-- truth, and a row of an earlier version is stale. `orders.due_at` is written by gateways of the
-- previous version only; its column and index go when none of them runs any more.
create table due (
  due_at      timestamptz not null,
  order_id    bigint not null,
  version     integer not null,
  merchant_id bigint not null,
  node        text,
  primary key (due_at, order_id, version)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);

-- A step of an order changes no indexed column, so that its update is a HOT one, also on
-- PostgreSQL 15, where a BRIN index on a changed column prevents that.
drop index orders_by_receipt;
drop index orders_finished;

-- Ids are unique in the installation: hosts and directory servers name an order by its id alone.
drop index orders_by_id;
alter table orders drop constraint orders_pkey;
alter table orders add constraint orders_pkey primary key (id);

-- Half of a page is left for the next version of each order on it. Many small vacuums, no big one.
alter table orders set (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_cost_limit = 1000);
alter table callbacks set (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table oauth_nonces set (autovacuum_vacuum_scale_factor = 0.02);
alter table wallet_messages set (autovacuum_vacuum_scale_factor = 0.02);
