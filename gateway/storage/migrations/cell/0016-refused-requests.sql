-- compatible-from: 0001
-- locks: nothing
-- Requests that were refused, masked, for the portal (decision 0062). Nodes keep the latest of each
-- merchant, and drop the others; nothing that a payment needs is here.
create table refused_requests (
  merchant_id    bigint not null,
  at             timestamptz not null,
  serial         uuid not null,
  -- Of the endpoint or the group in the path.
  entry_id       bigint not null,
  operation      text not null,
  version        text not null,
  code           text not null,
  -- Whether the merchant has signed it. Anyone can send the others, which therefore never push out these.
  authenticated  boolean not null,
  sent_from      text not null,
  client_orderid text not null,
  document       json not null,
  primary key (merchant_id, at, serial)
);
create index refused_requests_by_time on refused_requests (at, serial);
create index refused_requests_by_serial on refused_requests (serial);

-- How many were not kept, by day.
create table dropped_requests (
  merchant_id bigint not null,
  day         date not null,
  count       bigint not null,
  primary key (merchant_id, day)
);
