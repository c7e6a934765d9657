-- compatible-from: 0043
-- locks: order_blocks, for an instant
-- When two standbys take over one after the other, the second may lack the block that a node was
-- given by the first, and gave out almost the same ids, or the same sequence numbers if those are
-- ahead of the clock. Now a block has the server's timeline, and each takeover numbers of its own.
alter table order_blocks add column timeline integer;

create or replace function take_order_numbers(
  own_time float8, reached bigint, is_first boolean, reached_id bigint, wanted integer,
  out first_sequence bigint, out first_id bigint
) language plpgsql security definer set search_path = public, pg_temp as $$
declare
  newest bigint;
  takeovers integer := 0;
  -- Where sequence numbers begin that follow the clock, as take_order_ids has it.
  minimum bigint := floor((greatest(extract(epoch from clock_timestamp()),
    least(own_time, extract(epoch from clock_timestamp()) + 86400)) - 1735689600) * 10000);
  timeline_now integer := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int;
  passed bigint;
  lost bigint := 0;
begin
  if is_first then
    -- Since the newest block that this server knows. Each may have given out others.
    select known.first_sequence,
      case when timeline_now <> known.timeline
        then least(greatest(timeline_now - known.timeline, 1), 100) else 0 end
    into newest, takeovers from order_blocks as known order by known.first_sequence desc limit 1;
    -- Two standbys that have not heard of each other may begin the same timeline: the clock tells
    -- them apart, here by ten thousand numbers a second, below by a thousand ids a second.
    if takeovers > 0 then
      select greatest(reached, newest, minimum, last_value) + 100000 + 200000 * takeovers
        + minimum % 100000 into reached from order_sequence;
    end if;
  end if;
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
    if takeovers > 0 then
      lost := lost + 100000 * takeovers + minimum / 10 % 1000000;
    end if;
  end if;
  update order_numbers set next_id = greatest(next_id + lost, reached_id) + wanted
  returning next_id - wanted into first_id;
  insert into order_blocks (first_sequence, first_id, size, timeline)
  values (take_order_numbers.first_sequence, take_order_numbers.first_id, wanted, timeline_now);
end $$;
