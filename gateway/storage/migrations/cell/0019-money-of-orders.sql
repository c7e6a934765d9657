-- compatible-from: 0001
-- locks: the portal's index, for an instant
-- What an approved order has left after refunds and chargebacks. The rows of earlier gateways have
-- none, and count with their whole amount. A walk writes all rows again, up to `renewed_id` so far;
-- null: it has ended. Earlier gateways have their own walk, which has no effect any more.
alter table order_index add column net bigint;
alter table order_index_progress add column renewed_id bigint default 0;
