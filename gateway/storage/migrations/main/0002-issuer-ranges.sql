-- Who issued a card, by the first digits of its number: the operator's BIN table. It is read whole
-- into memory, so it has no index but its key. The ends have eleven digits.

create table issuer_ranges (
  first        bigint not null,
  last         bigint not null,
  bank_name    text,
  country      text,
  product_code text,
  product_name text,
  type_code    text,
  type_name    text,
  primary key (first, last),
  check (first between 0 and last and last < 100000000000)
);

-- One row: which table this is, so that a node can tell whether it has it already.
create table issuer_table (
  single    boolean primary key default true check (single),
  version   bigint not null,
  loaded_at timestamptz
);

insert into issuer_table (version) values (0);
