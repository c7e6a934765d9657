-- compatible-from: 0026
-- locks: merchants and endpoints, for an instant
-- Allow and block lists (decision 0049). Nodes keep them in memory and read the rows whose version
-- is new to them; the row of a removed entry stays for a while, without its value, to tell them.
create table list_entries (
  id          bigint generated always as identity primary key,
  version     bigint not null,
  list        text not null check (list in ('allow', 'block')),
  kind        text not null,
  -- Normalised; of a card its hash id, or a digest of its number.
  value       text not null,
  -- Neither: for the whole gateway. An endpoint comes with its merchant.
  merchant_id bigint references merchants,
  endpoint_id bigint references endpoints,
  expires_at  timestamptz,
  reason      text not null,
  added_by    text not null,
  added_at    timestamptz not null,
  removed_at  timestamptz,
  check (endpoint_id is null or merchant_id is not null)
);
create unique index list_entries_present
  on list_entries (list, kind, value, merchant_id, endpoint_id) nulls not distinct
  where removed_at is null;
create index list_entries_by_version on list_entries (version);

-- One row. A change locks it before it writes, so that versions commit in their order.
create table list_version (
  single  boolean primary key default true check (single),
  version bigint not null
);
insert into list_version (version) values (0);
