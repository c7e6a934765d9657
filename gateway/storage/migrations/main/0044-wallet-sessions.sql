-- compatible-from: 0031
-- locks: vault.wallet_keys, for an instant
-- The key with which a merchant identifies itself to walleta, and the files by which wallets check
-- that the payment page's domain is the merchant's.
alter table vault.wallet_keys
  drop constraint wallet_keys_wallet_check,
  add constraint wallet_keys_wallet_check
    check (wallet in ('walleta', 'walletb', 'walleta-identity'));

create table well_known_files (
  -- Below /.well-known/.
  name    text primary key,
  content text not null
);
