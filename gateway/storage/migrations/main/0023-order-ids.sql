-- compatible-from: 0020
-- locks: nothing
-- Blocks of order ids that never repeat, also when the database has lost the latest ones in a
-- restore or a failover: a block begins no lower than the clock's own minimum, 10,000 ids for each
-- second since 2025. Decision 0037 has the rules.
--   own_time  the time of the node's machine, in seconds: the database's clock may be behind
--   reached   the end of the last block that the node was given
--   is_first  the node has just connected, perhaps to a server that has lost blocks
-- The owner's rights, because the gateway's role may not set a sequence.
create function take_order_ids(own_time float8, reached bigint, is_first boolean) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  epoch constant float8 := 1735689600;
  per_second constant bigint := 10000;
  day constant float8 := 86400;
  -- Ten seconds of ids: nodes that begin together, and blocks that a standby has not received.
  ahead constant bigint := 100000;
  -- A gateway of an earlier version takes blocks without the lock.
  unlocked constant bigint := 10000;
  database_time float8 := extract(epoch from clock_timestamp());
  minimum bigint := floor((greatest(database_time, least(own_time, database_time + day)) - epoch)
                          * per_second);
  present bigint;
  wanted bigint;
begin
  perform pg_advisory_xact_lock(8583, 23);
  select last_value into present from order_sequence;
  wanted := greatest(minimum, reached);
  if is_first then
    -- Far ahead of the clock the sequence is only after many more orders than it was made for.
    wanted := greatest(wanted, case
      when present < minimum + 2 * ahead then minimum + ahead else present + ahead end);
  end if;
  if present < wanted then perform setval('order_sequence', wanted + unlocked); end if;
  return nextval('order_sequence');
end $$;
