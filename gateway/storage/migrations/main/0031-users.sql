-- compatible-from: 0026
-- locks: merchants, for an instant
-- People, for `gw` and for the portal. What a role may do is a table in the code (values/roles.ts).
create table users (
  id          bigint generated always as identity primary key,
  login       text not null unique,
  role        text not null,
  -- Of a role that is a merchant's.
  merchant_id bigint references merchants,
  enabled     boolean not null default true,
  created_at  timestamptz not null default now()
);
