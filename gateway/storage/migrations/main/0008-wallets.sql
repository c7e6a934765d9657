-- The keys that customers' wallets encrypt for: the private parts belong to the vault and are
-- sealed by its keys. Several of one merchant and wallet while they are renewed.
create table vault.wallet_keys (
  id          bigint primary key generated always as identity,
  merchant_id bigint not null,
  wallet      text not null check (wallet in ('walleta', 'walletb')),
  sealed      bytea not null,
  public_key  text not null,
  certificate text,
  expires_at  timestamptz,
  created_at  timestamptz not null default now(),
  removed_at  timestamptz
);

-- What was paid with once, for as long as it could be sent again. The digest tells a repeated
-- request from another one with the same payment data.
create table wallet_messages (
  merchant_id    bigint not null,
  wallet         text not null,
  message_id     text not null,
  digest         bytea not null,
  remember_until timestamptz not null,
  primary key (merchant_id, wallet, message_id)
);
create index wallet_messages_over on wallet_messages (remember_until);
