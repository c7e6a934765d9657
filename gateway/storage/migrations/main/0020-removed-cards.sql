-- Who removed a reference (the operator, where it is null), and when its card was destroyed. Until
-- then payments that were made with the card can be captured, returned and reversed.
alter table card_references
  add column removed_by   text,
  add column destroyed_at timestamptz;

-- The cards that are still to be destroyed.
create index card_references_to_destroy on card_references (removed_at)
  where removed_at is not null and destroyed_at is null;
