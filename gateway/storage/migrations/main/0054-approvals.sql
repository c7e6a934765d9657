-- compatible-from: 0043
-- locks: nothing
-- What a user wants to do and a second person has to approve.
create table approvals (
  id           bigint generated always as identity primary key,
  work         text not null,
  access_right text not null,
  merchant_id  bigint references merchants,
  asked_by     text not null,
  asked_at     timestamptz not null default now(),
  approved_by  text,
  approved_at  timestamptz,
  used_at      timestamptz
);
