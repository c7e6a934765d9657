-- References to cards of earlier payments: what a merchant keeps instead of a card number. The
-- card itself stays in the vault; here is what may be known of it, and under which ids.
create table card_references (
  merchant_id bigint not null,
  id          bigint not null,
  purpose     text not null,
  card_id     bigint not null,
  endpoint_id bigint not null,
  order_id    bigint not null,
  facts       json not null,
  created_at  timestamptz not null,
  removed_at  timestamptz,
  primary key (merchant_id, id)
);

-- The same card is registered once, however many ask at the same moment.
create unique index card_references_by_card on card_references (merchant_id, card_id, purpose);
