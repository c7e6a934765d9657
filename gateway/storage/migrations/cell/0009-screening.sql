-- compatible-from: 0001
-- locks: nothing
-- The latest payments of a card, an email … which screening counts (decision 0048). `key` is a keyed
-- digest of what is counted and where; the rows of rules that count over all merchants of the cell
-- belong to merchant 0. `events` are records of fixed length, the latest last. Times are in
-- milliseconds. No index has `keep_until`: an update then writes no index entries.
create table screening_tallies (
  merchant_id bigint not null,
  key         uuid not null,
  first_at    bigint not null,
  keep_until  bigint not null,
  events      bytea not null,
  primary key (merchant_id, key)
) with (fillfactor = 70);
