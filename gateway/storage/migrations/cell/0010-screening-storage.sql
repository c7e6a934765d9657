-- compatible-from: 0001
-- locks: screening_tallies, for an instant
-- Compression halved a full row, and took most of the time of counting a payer with many payments.
-- A row with the latest 128 payments has 5.7 kB and stays in its page. Citus passes no change of a
-- column's storage on to the table's shard, which is changed by itself.
do $$
declare
  is_distributed boolean := false;
  failure text;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute $check$select exists (
      select from pg_dist_partition where logicalrelid = 'screening_tallies'::regclass)$check$
      into is_distributed;
  end if;
  if is_distributed then
    perform set_config('citus.enable_ddl_propagation', 'off', true);
    execute $shard$select min(result) from run_command_on_shards('screening_tallies',
      'alter table %s alter column events set storage external') where not success$shard$
      into failure;
    if failure is not null then
      raise exception 'the shard of screening_tallies: %', failure;
    end if;
  end if;
  alter table screening_tallies alter column events set storage external;
  if is_distributed then
    perform set_config('citus.enable_ddl_propagation', 'on', true);
  end if;
end $$;
alter table screening_tallies set (toast_tuple_target = 8160);
