-- Whose places a callback takes, however the merchant spells the address: the gateway says it with
-- each new one. Of those that are there it is said here, as well as can be, for the open ones: the
-- others are millions, and would share places only if they were sent again.
alter table callbacks add column receiver text not null default '';
-- From when on its tries count: since it was made, was sent again, or could go at last.
alter table callbacks add column begun_at timestamptz not null default now();
update callbacks set begun_at = made_at, receiver = coalesce(
  regexp_replace(
    regexp_replace(
      lower(substring(url from '(?i)^https?://(?:[^/?#@\\]*@)?([^/?#@\\]*)')),
      case when url ~* '^https' then ':0*443$' else ':0*80$' end, ''),
    '\.(:\d+)?$', '\1'),
  '')
where ended is null;
