-- Discrepancies that the latest ledger check found, for the metrics of every process.
create table inventory.findings (
  kind text not null constraint findings_pkey primary key,
  count int not null,
  checked_at timestamptz not null default now()
);
