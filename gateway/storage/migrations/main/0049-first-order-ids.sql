-- compatible-from: 0043
-- locks: nothing
-- The first id of an installation follows the clock, between 10,000,000 and 20,000,000. It was the
-- same for everyone, so a standby that lacked the first block of all gave its ids out again.
create or replace function take_order_numbers(
  own_time float8, reached bigint, is_first boolean, reached_id bigint, wanted integer,
  out first_sequence bigint, out first_id bigint
) language plpgsql security definer set search_path = public, pg_temp as $$
declare
  newest bigint;
  passed bigint;
  lost bigint := 0;
begin
  -- It takes a lock, until the end of the transaction: blocks are taken one after the other.
  first_sequence := take_order_ids(own_time, reached, is_first);
  -- Every node holds a lock on its name; one that knows of short ids holds (8583, 40) beside it.
  if exists (
    select from pg_locks as name
    where name.locktype = 'advisory' and name.granted and name.objsubid = 1 and name.classid <> 0
      and name.database = (select oid from pg_database where datname = current_database())
      and not exists (
        select from pg_locks as knows
        where knows.pid = name.pid and knows.locktype = 'advisory' and knows.granted
          and knows.objsubid = 2 and knows.classid = 8583 and knows.objid = 40)
  ) then
    update order_numbers set older_at = clock_timestamp();
    return;
  end if;
  -- A node whose connection was lost, in a failover for instance, is without its locks for a while.
  if exists (
    select from order_numbers where older_at > clock_timestamp() - interval '10 minutes'
  ) then
    return;
  end if;
  select max(known.first_sequence) into newest from order_blocks as known;
  if newest is null then
    -- From the first short id on no such gateway may be started.
    update migrations set compatible_from = 'no' where name = '0040-short-order-ids.sql';
    -- Perhaps a server that has lost the very first block: a thousand ids for each second.
    lost := first_sequence / 10 % 10000000;
  elsif is_first then
    -- Perhaps a server that has lost the latest blocks. Sequence numbers follow the clock, so they
    -- tell how long ago the newest block was that it knows: twice as many ids are left out as were
    -- given in as long a time before that, and ten for each second of the first quarter of an hour.
    passed := greatest(first_sequence - newest, 1);
    select least(least(passed / 1000, 9000) + 2 * sum(known.size), 10000000) into lost
    from order_blocks as known
    where known.first_sequence > newest - passed;
  end if;
  update order_numbers set next_id = greatest(next_id + lost, reached_id) + wanted
  returning next_id - wanted into first_id;
  insert into order_blocks (first_sequence, first_id, size)
  values (take_order_numbers.first_sequence, take_order_numbers.first_id, wanted);
end $$;
