-- compatible-from: 0043
-- locks: portal_sessions and merchants, for an instant
-- A challenge for a passkey counts for some minutes.
alter table portal_sessions add column challenge_expires_at timestamptz;
-- The merchant demands a second factor of all its users.
alter table merchants add column demands_second_factor boolean not null default false;
