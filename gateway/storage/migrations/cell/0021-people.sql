-- compatible-from: 0001
-- transaction: none
-- locks: nothing for longer than an instant; it makes an index of order_index
-- The portal finds orders by names and by parts of email addresses (decision 0085). `people` has the
-- words of each order's person, and is null in rows that an earlier gateway has written.
alter table order_index add column if not exists name text not null default '';
alter table order_index add column if not exists people text[];

-- A walk writes all rows again, up to `described_id` so far; null: it has ended. Earlier gateways
-- have their own walks, which have no effect any more.
alter table order_index_progress add column if not exists described_id bigint default 0;

-- It finds words by their beginnings.
drop index concurrently if exists order_index_people;
create index concurrently order_index_people on order_index
  using gin (array_to_tsvector(people)) with (gin_pending_list_limit = 64);

-- As for the other columns (0018). Citus refuses to change what is collected of a column.
do $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    alter table order_index alter column name set statistics 10;
    alter table order_index alter column people set statistics 10;
    alter index order_index_people alter column 1 set statistics 10;
  end if;
end $$;
