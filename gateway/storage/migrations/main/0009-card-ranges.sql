-- What a directory server was asked and has told, for each protocol apart: one that refuses the
-- newer messages must not be asked for the older ones more often, nor the other way round.
create table card_range_lists (
  directory     text not null references directory_servers on delete cascade,
  protocol      text not null check (protocol in ('1', '2')),
  -- From when on a node may ask; while one asks, until when it may take.
  due_at        timestamptz not null default 'epoch',
  -- Who asks now. Whoever finds another's mark here has been overtaken, and stores nothing.
  claim         text,
  failures      integer not null default 0,
  -- The version of messages that was answered last.
  version       text,
  serial_number text,
  -- Another one after every change of the ranges, so that nodes read only what they do not know.
  stamp         text not null default '',
  primary key (directory, protocol)
);

insert into card_range_lists (directory, protocol, due_at, serial_number)
select name, protocol, ranges_due_at, case protocol when '2' then serial_number end
from directory_servers cross join (values ('1'), ('2')) as known (protocol);

alter table directory_servers drop column ranges_due_at, drop column serial_number;
