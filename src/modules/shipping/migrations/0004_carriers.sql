create table shipping.carriers (
  id uuid not null constraint carriers_pkey primary key default gen_random_uuid(),
  code text not null constraint carriers_code_once unique
    constraint carriers_code check (code ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  name text not null,
  -- Contains {tracking_number}.
  tracking_url text constraint carriers_tracking_url check (tracking_url like 'https://%'),
  -- Formats of its tracking numbers: masks with check digit algorithms. Empty: any number is valid.
  number_rules jsonb not null,
  version int not null default 1,
  created_at timestamptz not null default now()
);
create unique index carriers_name on shipping.carriers (lower(name));

insert into shipping.carriers (code, name, tracking_url, number_rules) values
  ('ups', 'UPS', 'https://www.ups.com/track?tracknum={tracking_number}',
   '[{"mask": "1Z****************", "check": "ups"}, {"mask": "T##########", "check": null},
     {"mask": "#########", "check": null}]'),
  ('fedex', 'FedEx', 'https://www.fedex.com/fedextrack/?trknbr={tracking_number}',
   '[{"mask": "############", "check": "fedex"}, {"mask": "###############", "check": "gs1"},
     {"mask": "##################", "check": null}, {"mask": "####################~", "check": null}]'),
  ('dhl', 'DHL', 'https://www.dhl.com/global-en/home/tracking.html?tracking-id={tracking_number}',
   '[{"mask": "##########", "check": "mod7"}, {"mask": "###########", "check": "mod7"},
     {"mask": "############", "check": null}, {"mask": "####################", "check": "gs1"},
     {"mask": "J@##########~", "check": null}, {"mask": "J@@#########~", "check": null},
     {"mask": "J@@@#########~", "check": null}, {"mask": "@@#########@@", "check": "s10"},
     {"mask": "@@##########~", "check": null}]'),
  ('usps', 'USPS', 'https://tools.usps.com/go/TrackConfirmAction?tLabels={tracking_number}',
   '[{"mask": "####################", "check": null}, {"mask": "9#####################", "check": "gs1"},
     {"mask": "420#########################~", "check": null}, {"mask": "@@#########@@", "check": "s10"}]'),
  ('dpd', 'DPD', 'https://tracking.dpd.de/status/en_US/parcel/{tracking_number}',
   '[{"mask": "##############", "check": null}, {"mask": "##############*", "check": null},
     {"mask": "############################", "check": null}]'),
  ('gls', 'GLS', 'https://gls-group.com/track/{tracking_number}',
   '[{"mask": "###########", "check": null}, {"mask": "############", "check": null}, {"mask": "********", "check": null}]'),
  ('deutsche-post', 'Deutsche Post',
   'https://www.dhl.de/en/privatkunden/pakete-empfangen/verfolgen.html?piececode={tracking_number}',
   '[{"mask": "@@#########@@", "check": "s10"}, {"mask": "A***************~", "check": null}]'),
  ('postnord', 'PostNord', 'https://tracking.postnord.com/en/tracking?id={tracking_number}',
   '[{"mask": "@@#########@@", "check": "s10"}, {"mask": "####################", "check": "gs1"},
     {"mask": "##################", "check": "gs1"}, {"mask": "###########@@", "check": null}]'),
  ('postnl', 'PostNL', 'https://postnl.nl/tracktrace/?B={tracking_number}',
   '[{"mask": "@@#########@@", "check": "s10"}, {"mask": "3S**********~", "check": null}]'),
  ('royal-mail', 'Royal Mail', 'https://www.royalmail.com/track-your-item#/tracking-results/{tracking_number}',
   '[{"mask": "@@#########@@", "check": "s10"}, {"mask": "################~", "check": null}]');

create index shipments_waiting on shipping.shipments (order_id, id) where sent_at is null;
create index shipments_sent_at on shipping.shipments (sent_at) where sent_at is not null;
