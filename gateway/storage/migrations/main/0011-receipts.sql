-- Finds an order by the id of its receipt, which belongs to the transaction that began it. Only
-- orders that may have one are in the index: approved ones, and those that something has followed.
create index orders_by_receipt on orders (
  merchant_id,
  (case when kind in ('capture', 'reversal', 'cancel')
     then progress #>> '{earlier,0,receiptId}' else progress #>> '{transaction,receiptId}' end)
) where stage = 'approved' or kind in ('capture', 'reversal', 'cancel');
