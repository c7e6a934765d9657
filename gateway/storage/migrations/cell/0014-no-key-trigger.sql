-- compatible-from: 0001
-- locks: cards, for an instant
-- The first cell's triggers, which kept cards from destroyed keys. Every gateway that knows cells
-- locks the key's row instead (storage/card-keys.ts); the triggers only took a tenth of the time
-- that a new order alone takes the database.
drop function if exists vault.refuse_destroyed_keys() cascade;
