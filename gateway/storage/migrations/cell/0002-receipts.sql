-- compatible-from: 0001
-- locks: nothing; it reads all orders once
-- A receipt's id is derived from its order's id (decision 0035), so it needs no index. Earlier ones
-- are random: here is which order each belongs to.
create table receipts (
  merchant_id bigint not null,
  receipt_id  text not null,
  order_id    bigint not null,
  primary key (merchant_id, receipt_id)
);

insert into receipts (merchant_id, receipt_id, order_id)
select merchant_id, receipt_id, id
from (
  select merchant_id, id,
    case when kind in ('capture', 'refund', 'reversal', 'cancel')
      then progress #>> '{earlier,0,receiptId}' else progress #>> '{transaction,receiptId}' end
      as receipt_id
  from orders where stage = 'approved' or kind in ('capture', 'refund', 'reversal', 'cancel')
) as approved
where receipt_id is not null
on conflict do nothing;
