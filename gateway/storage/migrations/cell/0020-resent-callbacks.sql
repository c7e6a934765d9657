-- compatible-from: 0001
-- locks: callbacks, for an instant
-- When a user last had the callback sent again, and which user. Empty if no user has.
alter table callbacks
  add column resent_at timestamptz,
  add column resent_by text;
