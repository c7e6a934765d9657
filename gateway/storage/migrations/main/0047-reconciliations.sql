-- compatible-from: 0031
-- locks: nothing
-- What `gw reconcile` has found, for the portal: the latest comparison of each gate and day, by the
-- acquirer's file and by its host's totals.
create table reconciliations (
  day         date not null,
  gate        text not null,
  way         text not null check (way in ('file', 'totals')),
  at          timestamptz not null default now(),
  by          text not null,
  agrees      boolean not null,
  matched     int not null,
  differences int not null,
  -- Totals and differences, as `gw reconcile --json` prints them; the differences up to a thousand.
  result      jsonb not null,
  primary key (day, gate, way)
);
