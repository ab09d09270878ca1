-- Only developers read the mailbox. A crash of PostgreSQL empties it.
alter table notifications.mailbox set unlogged;
