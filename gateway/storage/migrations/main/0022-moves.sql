-- Merchants that are being moved from one cell to another. A move that was cut short is gone on
-- with by the same command; where it stands follows from the merchant's cell.
create table merchant_moves (
  merchant_id bigint primary key references merchants,
  from_cell   text not null references cells,
  to_cell     text not null references cells,
  begun_at    timestamptz not null default now()
);
