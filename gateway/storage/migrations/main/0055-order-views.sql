-- compatible-from: 0043
-- locks: nothing
-- Views of the list of orders that a team shares: the operators, or the users of a merchant.
create table order_views (
  id          bigint generated always as identity primary key,
  merchant_id bigint references merchants,
  name        text not null,
  -- Filters of an address, and never a search, which may name a person.
  query       text not null,
  shared_by   text not null,
  shared_at   timestamptz not null default now()
);
create unique index order_views_of_team on order_views (coalesce(merchant_id, 0), query);
