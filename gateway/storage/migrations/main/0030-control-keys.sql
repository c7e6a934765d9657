-- compatible-from: 0026
-- locks: merchants, for an instant
-- Merchants that are switched off, and the control key before the present one, which counts until
-- an operator drops it. Nodes of earlier versions know neither.
alter table merchants
  add column enabled                 boolean not null default true,
  add column old_control_key         bytea,
  add column old_control_key_used_at timestamptz,
  add column control_key_set_at      timestamptz;
