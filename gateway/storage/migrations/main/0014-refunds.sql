-- The transaction kind `reversal` is called `refund` from now on; rows that were written before keep
-- the old word in `kind` until their order changes, so the receipt index covers both.
drop index orders_by_receipt;
create index orders_by_receipt on orders (
  merchant_id,
  (case when kind in ('capture', 'refund', 'reversal', 'cancel')
     then progress #>> '{earlier,0,receiptId}' else progress #>> '{transaction,receiptId}' end)
) where stage = 'approved' or kind in ('capture', 'refund', 'reversal', 'cancel');
