-- What a provider answers, or says when it is asked, may be as strange as what it calls back with.
alter table payments.events
  add column source text not null default 'callback' constraint events_source check (source in ('callback', 'answer', 'poll'));
