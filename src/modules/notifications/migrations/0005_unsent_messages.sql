-- Most messages are sent at the first attempt. While that runs, and from then on, they are not in the index of the status, and the
-- update that marks them as sent touches no index.
alter table notifications.messages add column unsent_status text;
update notifications.messages set unsent_status = status where status <> 'sent';
alter table notifications.messages add constraint messages_unsent
  check (unsent_status is not distinct from status or (unsent_status is null and status in ('pending', 'sent')));
drop index notifications.messages_not_sent;
create index messages_unsent on notifications.messages (unsent_status, id) where unsent_status is not null;
