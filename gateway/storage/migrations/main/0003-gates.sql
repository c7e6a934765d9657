-- An endpoint has several gates: ranks are tried from the lowest, and within one rank the orders
-- are shared out by weight.

create table endpoint_gates (
  endpoint_id bigint not null references endpoints,
  gate_id     bigint not null references gates,
  rank        integer not null check (rank > 0),
  weight      integer not null check (weight > 0),
  primary key (endpoint_id, gate_id)
);

insert into endpoint_gates (endpoint_id, gate_id, rank, weight)
select id, gate_id, 1, 1 from endpoints;

alter table endpoints drop column gate_id;
