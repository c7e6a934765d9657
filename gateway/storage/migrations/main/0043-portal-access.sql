-- compatible-from: 0031
-- locks: users, for an instant
-- How people sign in to the portal (decision 0057). A user without a password cannot.
alter table users
  -- Argon2id with its parameters and salt, as a PHC string.
  add column password           text,
  -- Made by another person: the user must replace it.
  add column password_temporary boolean not null default true,
  -- Sealed by the vault's keys. The step is the latest whose code was used: no code counts twice.
  add column totp_sealed        bytea,
  add column totp_step          bigint not null default 0,
  -- SHA-256 of each recovery code that was not used yet.
  add column recovery_codes     bytea[] not null default '{}';

create table passkeys (
  -- As the authenticator names it, in base64url.
  id           text primary key,
  user_id      bigint not null references users,
  public_key   bytea not null,
  counter      bigint not null,
  transports   text[] not null default '{}',
  name         text not null,
  created_at   timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id);

-- The cookie has a random token, and the row its SHA-256: reading the table opens no session.
create table portal_sessions (
  digest        bytea primary key,
  user_id       bigint not null references users,
  began_at      timestamptz not null,
  seen_at       timestamptz not null,
  second_factor boolean not null default false,
  network       text not null,
  agent         text not null,
  -- The challenge that a passkey has to sign, and the sealed secret that a first code confirms.
  challenge     text,
  pending_totp  bytea
);
create index portal_sessions_of_user on portal_sessions (user_id);

-- Tries to sign in, counted by browser, by network and by login before the password is compared.
create table sign_in_tries (
  key        bytea primary key,
  tries      integer not null,
  expires_at timestamptz not null
);
