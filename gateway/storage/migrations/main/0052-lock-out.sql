-- compatible-from: 0043
-- locks: users and sign_in_tries, for an instant
-- Each lock of a login is longer than the one before.
alter table sign_in_tries add column locks integer not null default 0;
alter table users
  -- Hashes of the user's own earlier passwords, the latest first.
  add column earlier_passwords text[] not null default '{}',
  -- The latest sign-in to the portal, or command of `gw`.
  add column used_at           timestamptz;
-- The update makes no user idle.
update users set used_at = now();
