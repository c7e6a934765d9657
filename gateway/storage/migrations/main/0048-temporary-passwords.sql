-- compatible-from: 0043
-- locks: users, for an instant
-- A password that another person has made ends by itself. Null: of the user's own choice, or made
-- by a gateway of the version before.
alter table users add column password_expires_at timestamptz;
update users set password_expires_at = now() + interval '72 hours'
  where password is not null and password_temporary;
