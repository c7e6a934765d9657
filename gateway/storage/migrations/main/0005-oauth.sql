-- OAuth: the public keys that merchants sign with, several at a time while they change them, and
-- the nonces that were seen, for as long as their time stamps could be accepted.

create table merchant_keys (
  merchant_id bigint not null references merchants,
  id          bigint not null generated always as identity,
  name        text not null,
  public_key  text not null,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz,
  primary key (merchant_id, id)
);

create table oauth_nonces (
  merchant_id bigint not null,
  nonce       text not null,
  signed_at   timestamptz not null,
  primary key (merchant_id, nonce)
);

create index oauth_nonces_oldest on oauth_nonces (signed_at);
