-- compatible-from: 0031
-- locks: nothing
-- Backups that were made, for `gw doctor` and the metrics; and whether the installation is on hold
-- (decision 0050): a restored one sends nothing until an operator releases it.
create table backups (
  id       bigint generated always as identity primary key,
  -- The moment whose picture it is, and the moment it was complete.
  taken_at timestamptz not null,
  ended_at timestamptz not null default now(),
  place    text not null,
  rows     bigint not null,
  bytes    bigint not null,
  -- SHA-256 of the manifest.
  manifest text not null
);

create table installation_hold (
  one         boolean primary key default true check (one),
  -- The server that nodes work on. Another one has a copy of it.
  system_id   text,
  timeline    integer,
  -- Absent while payments go on.
  since       timestamptz,
  why         text,
  verified_at timestamptz,
  -- The gates whose books were compared since then.
  reconciled  text[] not null default '{}'
);
insert into installation_hold default values;
