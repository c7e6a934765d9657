-- The directory servers of 3-D Secure, and the card ranges that they have told. Small, and needed
-- by every node: in a cluster both are reference tables.
create table directory_servers (
  name          text primary key,
  networks      text[] not null default '{}',
  settings      jsonb not null,
  serial_number text,
  -- From when on a node may ask for the ranges.
  ranges_due_at timestamptz not null default 'epoch'
);

-- Card numbers written to nineteen digits; protocol 2 is EMV 3-D Secure, 1 is 1.0.2.
create table card_ranges (
  directory  text not null references directory_servers on delete cascade,
  protocol   text not null check (protocol in ('1', '2')),
  first      text not null check (length(first) = 19),
  last       text not null check (length(last) = 19),
  version    text not null,
  method_url text,
  primary key (directory, protocol, first, last)
);
