-- compatible-from: 0001
-- locks: orders, order_history, requests and callback_attempts, for an instant
-- Ids are unique in the installation: hosts and directory servers name an order by its id alone.
drop index orders_by_id;
alter table orders drop constraint orders_pkey;
alter table orders add constraint orders_pkey primary key using index orders_key;

-- Tables that only grow, in partitions by month: storage/partitions.ts makes them ahead of time and
-- drops old ones. The table as it is becomes the first partition, with the key and the proof that
-- 0003 has made. The default partition takes what no month has, so that no payment waits for a
-- partition. Requests are parted by serial number: a UUID of version 7, which begins with the time.
-- Tables are made outside of the block, because Citus distributes only those.
alter table order_history drop constraint order_history_pkey;
alter table order_history rename to order_history_first;
alter table order_history_first
  add constraint order_history_first_pkey primary key using index order_history_key;
create table order_history (
  merchant_id bigint not null,
  order_id    bigint not null,
  version     integer not null,
  at          timestamptz not null,
  node        text not null,
  events      json not null,
  primary key (merchant_id, order_id, version, at)
) partition by range (at);
create table order_history_default partition of order_history default;

-- Its key stays as it is, with its name.
alter table requests rename to requests_first;
create table requests (
  merchant_id bigint not null,
  serial      uuid not null,
  endpoint_id bigint not null,
  order_id    bigint,
  operation   text not null,
  at          timestamptz not null,
  answer      json not null,
  constraint requests_key primary key (merchant_id, serial)
) partition by range (serial);
create table requests_default partition of requests default;

drop index callback_attempts_of;
alter table callback_attempts rename to callback_attempts_first;
alter table callback_attempts_first
  add constraint callback_attempts_first_pkey primary key using index callback_attempts_key;
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
create table callback_attempts_default partition of callback_attempts default;

do $$
declare
  base text;
  place text;
  ends timestamp;
  bound text;
begin
  perform set_config('timezone', 'UTC', true);
  select substring(pg_get_constraintdef(oid) from '\d{4}-\d\d-\d\d')::timestamp into ends
  from pg_constraint
  where conname = 'first_months' and conrelid = 'order_history_first'::regclass;
  ends := coalesce(ends, date_trunc('month', now() at time zone 'UTC') + interval '1 month');
  foreach base in array array['order_history', 'requests', 'callback_attempts'] loop
    place := base || to_char(ends, '"_until_"YYYY_MM');
    bound := case base
      when 'requests' then
        rpad(lpad(to_hex((extract(epoch from ends) * 1000)::bigint), 12, '0'), 32, '0')
      else ends::text || '+00' end;
    execute format('alter table %I rename to %I', base || '_first', place);
    execute format('alter table %I set (autovacuum_vacuum_insert_scale_factor = 0.05,
      autovacuum_analyze_scale_factor = 0.05)', place);
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)',
      base, place, bound);
    execute format('alter table %I drop constraint if exists first_months', place);
  end loop;
end $$;

-- Reconciliation reads the orders with steps since a day began. The first partition has its part.
create index order_history_by_time on order_history using brin (at) with (pages_per_range = 32);
