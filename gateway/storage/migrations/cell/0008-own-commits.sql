-- compatible-from: 0001
-- locks: oauth_nonces and wallet_messages, for an instant
-- Which request wrote the row last: its statement is sent again when the answer was lost, and then
-- recognises its own commit. Gateways of earlier versions write none.
alter table oauth_nonces add column claim uuid;
alter table wallet_messages add column claim uuid;
