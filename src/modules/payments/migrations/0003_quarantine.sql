-- Responses to operations and polls can contradict the payment, too, and are quarantined like callbacks.
alter table payments.events
  add column source text not null default 'callback' constraint events_source check (source in ('callback', 'answer', 'poll'));
