-- compatible-from: 0001
-- locks: orders, for an instant
-- The digest of a request covers no CVV any more, and says by which key it was made. Nothing here:
-- an order of an earlier version, whose digest covers the CVV; zero: that one was deleted since.
-- The CVV has a digest of its own, whose key is destroyed within a quarter of an hour.
alter table orders
  add column digest_key integer,
  add column cvv_digest bytea;

-- A vacuum frees the space of deleted rows; their bytes are on the disk until it is used again.
alter table held_secrets set (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);
alter table held_keys set (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);
