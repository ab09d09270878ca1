-- Private keys are encrypted with a key that is not in the database. The next start encrypts older ones and clears
-- `private_jwk`.
alter table auth.signing_keys
  alter column private_jwk drop not null,
  add column sealed bytea,
  add constraint signing_keys_private check (num_nonnulls(private_jwk, sealed) = 1);
