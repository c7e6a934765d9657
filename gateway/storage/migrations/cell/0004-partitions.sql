-- compatible-from: 0001
-- locks: order_history, requests and callback_attempts, while their keys are made: some seconds for each million rows
-- Tables that only grow, in partitions by month: storage/partitions.ts makes them ahead of time and
-- drops old ones. The table as it is becomes the first partition, up to the end of its latest month.
-- The default partition takes what no month has, so that no payment waits for a partition. Requests
-- are parted by serial number: a UUID of version 7, which begins with the time. Tables are made
-- outside of the block, because Citus distributes only those.
alter table order_history drop constraint order_history_pkey;
alter table order_history rename to order_history_first;
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

alter table requests drop constraint requests_pkey;
alter table requests rename to requests_first;
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
create table requests_default partition of requests default;

-- An attempt that was recorded again after a lost connection stands there twice.
delete from callback_attempts as later using callback_attempts as earlier
where later.ctid > earlier.ctid and later.merchant_id = earlier.merchant_id
  and later.order_id = earlier.order_id and later.sequence = earlier.sequence
  and later.at = earlier.at and later.node = earlier.node;
drop index callback_attempts_of;
alter table callback_attempts rename to callback_attempts_first;
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
  foreach base in array array['order_history', 'requests', 'callback_attempts'] loop
    execute format('select greatest(max(at), now()) at time zone ''UTC'' from %I', base || '_first')
      into ends;
    ends := date_trunc('month', ends) + interval '1 month';
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
  end loop;
end $$;

-- Reconciliation reads the orders with steps since a day began.
create index order_history_by_time on order_history using brin (at) with (pages_per_range = 32);
