-- compatible-from: 0043
-- locks: nothing
-- The login of a merchant's user ends with its merchant's, and no operator's login has an @: no
-- merchant can take the login of an operator or of an account that runs `gw`.
create temporary table renamed_users on commit drop as
  select users.id, users.login,
    replace(users.login, '@', '.') || coalesce('@' || merchants.login, '') as renamed
  from users left join merchants on merchants.id = merchant_id;
do $$
declare
  same text;
begin
  select string_agg(names, '; ') into same from (
    select string_agg(login, ' and ' order by id) as names from renamed_users
    group by renamed having count(*) > 1) as clashes;
  if same is not null then
    raise using message = 'These users would have the same login: ' || same ||
      '. Rename all but one of each in the table users, and run gw migrate again.';
  end if;
end $$;
-- By names that no user has: the next login of one may be the present login of another.
update users set login = E'\n' || renamed from renamed_users where renamed_users.id = users.id;
update users set login = substr(login, 2);
