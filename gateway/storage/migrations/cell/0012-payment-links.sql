-- compatible-from: 0001
-- locks: nothing
-- Payment links (decision 0056). `amount` is in minor units, times are in milliseconds. `uses_max`:
-- how many orders may be paid; any number where it is absent. `uses` are the pages whose orders
-- count: the row's lock makes the count exact.
create table payment_links (
  merchant_id bigint not null,
  id          bigint not null,
  endpoint_id bigint not null,
  amount      bigint not null,
  currency    text not null,
  description text not null,
  return_url  text,
  callback_url text,
  created_at  bigint not null,
  created_by  text not null,
  expires_at  bigint,
  closed_at   bigint,
  uses_max    int,
  uses        text[] not null default '{}',
  primary key (merchant_id, id)
);
