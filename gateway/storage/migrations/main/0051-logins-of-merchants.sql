-- compatible-from: 0043
-- locks: nothing
-- The login of a merchant's user ends with its merchant's, and no operator's login has an @: no
-- merchant can take the login of an operator or of an account that runs `gw`.
update users set login = replace(login, '@', '.') where merchant_id is null and login like '%@%';
update users set login = replace(users.login, '@', '.') || '@' || merchants.login
  from merchants where merchants.id = merchant_id;
