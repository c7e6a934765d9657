-- compatible-from: 0026
-- locks: merchants and endpoints, for an instant
-- Screening rules (decision 0048). A rule belongs to an endpoint, to a merchant or, without either,
-- to the gateway. Its parameters are texts, as the operator types them.
create table screening_rules (
  id          bigint generated always as identity primary key,
  merchant_id bigint references merchants,
  endpoint_id bigint references endpoints,
  kind        text not null,
  parameters  json not null,
  action      text not null,
  enabled     boolean not null default true,
  created_at  timestamptz not null default now(),
  check (merchant_id is null or endpoint_id is null)
);
