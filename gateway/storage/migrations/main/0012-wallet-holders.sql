-- How many requests have brought the payment data and not let go of it: the same request may come
-- several times at once, and one that is refused must not free what another has paid with.
alter table wallet_messages add column holders integer not null default 1;
