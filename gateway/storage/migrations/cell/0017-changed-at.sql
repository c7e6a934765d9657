-- compatible-from: 0001
-- locks: orders, for an instant
-- When the order's last step was made, in milliseconds, or an earlier one if an older gateway made
-- the last. A step is written only to the order that it was made from. The version alone does not
-- tell: after a failover to a standby that lacked the last commits, the order may have come to the
-- same version another way.
alter table orders add column changed_at float8;
