-- compatible-from: 0020
-- locks: cells, for an instant
-- Whether the cell's schema is one that Citus places on a worker (decision 0042). Gateways of an
-- earlier version cannot write to such a cell: it is added when none of them runs any more.
alter table cells add column on_citus boolean not null default false;
