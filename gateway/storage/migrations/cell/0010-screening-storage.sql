-- compatible-from: 0001
-- locks: screening_tallies, for an instant
-- Compression halved a full row, and took most of the time of counting a payer with many payments.
-- A row with the latest 128 payments has 5.7 kB and stays in its page.
alter table screening_tallies alter column events set storage external;
alter table screening_tallies set (toast_tuple_target = 8160);
