-- Tables that only grow, in partitions by month: storage/partitions.ts makes them ahead of time and
-- drops old ones. The table as it is becomes the first partition, up to the end of its latest month.
-- The default partition takes what no month has, so that no payment waits for a partition. Requests
-- are parted by serial number: a UUID of version 7, which begins with the time.
do $$
declare
  base text;
  first text;
  key text;
  parted_by text;
  ends timestamp;
  bound text;
begin
  -- An attempt that was recorded again after a lost connection stands there twice.
  delete from callback_attempts as later using callback_attempts as earlier
  where later.ctid > earlier.ctid and later.merchant_id = earlier.merchant_id
    and later.order_id = earlier.order_id and later.sequence = earlier.sequence
    and later.at = earlier.at and later.node = earlier.node;
  drop index callback_attempts_of;
  alter table order_history drop constraint order_history_pkey;
  alter table requests rename constraint requests_pkey to requests_first_pkey;

  for base, key, parted_by in values
    ('order_history', 'merchant_id, order_id, version, at', 'at'),
    ('requests', 'merchant_id, serial', 'serial'),
    ('callback_attempts', 'merchant_id, order_id, sequence, at, node', 'at')
  loop
    execute format('select greatest(max(at), now()) at time zone ''UTC'' from %I', base) into ends;
    ends := date_trunc('month', ends) + interval '1 month';
    first := base || to_char(ends, '"_until_"YYYY_MM');
    bound := case parted_by
      when 'at' then ends::text || '+00'
      else rpad(lpad(to_hex((extract(epoch from ends) * 1000)::bigint), 12, '0'), 32, '0') end;
    execute format('alter table %I rename to %I', base, first);
    execute format('create table %I (like %I including defaults, primary key (%s))
      partition by range (%I)', base, first, key, parted_by);
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)',
      base, first, bound);
    execute format('create table %I partition of %I default', base || '_default', base);
  end loop;
end $$;

-- Reconciliation reads the orders with steps since a day began.
create index order_history_by_time on order_history using brin (at) with (pages_per_range = 32);
