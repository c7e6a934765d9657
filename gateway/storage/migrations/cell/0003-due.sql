-- compatible-from: 0001
-- transaction: none
-- locks: nothing for longer than an instant; it makes indexes of orders, history, requests and attempts
-- When a node must look at an order. A row is a hint for one version of the order; the order is the
-- truth, and a row of an earlier version is stale. `orders.due_at` is written by gateways of the
-- previous version only; its column and index go when none of them runs any more.
create table if not exists due (
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
drop index concurrently if exists orders_by_receipt;
drop index concurrently if exists orders_finished;

-- Half of a page is left for the next version of each order on it. Many small vacuums, no big one.
alter table orders set (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_cost_limit = 1000);
alter table callbacks set (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table oauth_nonces set (autovacuum_vacuum_scale_factor = 0.02);
alter table wallet_messages set (autovacuum_vacuum_scale_factor = 0.02);

-- The indexes of the keys that 0004 gives to these tables. An attempt that was recorded again after
-- a lost connection stands there twice.
drop index concurrently if exists orders_key;
create unique index concurrently orders_key on orders (id);
drop index concurrently if exists order_history_key;
create unique index concurrently order_history_key
  on order_history (merchant_id, order_id, version, at);
delete from callback_attempts as later using callback_attempts as earlier
where later.ctid > earlier.ctid and later.merchant_id = earlier.merchant_id
  and later.order_id = earlier.order_id and later.sequence = earlier.sequence
  and later.at = earlier.at and later.node = earlier.node;
drop index concurrently if exists callback_attempts_key;
create unique index concurrently callback_attempts_key
  on callback_attempts (merchant_id, order_id, sequence, at, node);
drop index concurrently if exists order_history_first_by_time;
create index concurrently order_history_first_by_time on order_history using brin (at)
  with (pages_per_range = 32);

-- All rows belong to the first partition that 0004 makes, so that it reads none of them again. The
-- first row that does not is months away. Empty tables need no proof.
do $$
declare
  base text;
  ends timestamp;
  bound text;
begin
  select date_trunc('month', greatest(now(), (select max(at) from order_history),
    (select max(at) from requests), (select max(at) from callback_attempts)) at time zone 'UTC')
    + interval '4 months' into ends;
  perform set_config('lock_timeout', '2s', true);
  foreach base in array array['order_history', 'requests', 'callback_attempts'] loop
    bound := case base
      when 'requests' then
        rpad(lpad(to_hex((extract(epoch from ends) * 1000)::bigint), 12, '0'), 32, '0')
      else ends::text || '+00' end;
    execute format('alter table %I drop constraint if exists first_months', base);
    continue when not exists (select from order_history);
    execute format('alter table %I add constraint first_months check (%s < %L) not valid',
      base, case base when 'requests' then 'serial' else 'at' end, bound);
  end loop;
end $$;
do $$
declare
  base text;
begin
  foreach base in array array['order_history', 'requests', 'callback_attempts'] loop
    continue when not exists (select from pg_constraint
      where conname = 'first_months' and conrelid = base::regclass);
    execute format('alter table %I validate constraint first_months', base);
  end loop;
end $$;
