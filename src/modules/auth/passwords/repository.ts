import { statement } from '../../../platform/postgres/statement.ts'

/** Returns the state of the budgets of a login attempt, in seconds from now. Reads without locks. */
export const findLoginBudgets = statement({
  name: 'auth.find_login_budgets',
  takes: { own: 'bytea', userId: 'uuid?', network: 'bytea', knownDays: 'int4' },
  gives: { own_level: 'float8', turn_in: 'float8?', is_known: 'bool' },
  text: `
    select
      coalesce(greatest(extract(epoch from own.full_at - now()), 0), 0)::float8 as own_level,
      extract(epoch from own.turn_at - now())::float8 as turn_in,
      exists (
        select from auth.known_networks
        where user_id = $userId and network_hash = $network and seen_at > now() - make_interval(days => $knownDays)
      ) as is_known
    from (select) as one
    left join auth.login_budgets own on own.key_hash = $own`
})
/**
 * Lets this transaction commit without waiting for the disk, because a login would otherwise wait three times. A power
 * failure loses only some seconds of counts.
 */
export const useAsynchronousCommit = statement({
  name: 'auth.commit_without_waiting',
  gives: { set_config: 'text' },
  text: `select set_config('synchronous_commit', 'off', true)`
})
/** Charges an attempt. No row when the budget would need more than `max` seconds to refill, or a turn is reserved for later. */
export const chargeLoginAttemptBudget = statement({
  name: 'auth.charge_login_budget',
  takes: { key: 'bytea', cost: 'float8', max: 'float8' },
  gives: { level: 'float8' },
  text: `
    insert into auth.login_budgets as present (key_hash, full_at)
    values ($key, now() + make_interval(secs => $cost))
    on conflict (key_hash) do update set
      full_at = greatest(present.full_at, now()) + make_interval(secs => $cost), turn_at = null
    where greatest(present.full_at, now()) + make_interval(secs => $cost) <= now() + make_interval(secs => $max)
      and coalesce(present.turn_at <= now(), true)
    returning extract(epoch from full_at - now())::float8 as level`
})
/** Refunds an attempt and reserves a later turn. */
export const reserveLaterLoginAttempt = statement({
  name: 'auth.reserve_login_turn',
  takes: { key: 'bytea', cost: 'float8', seconds: 'float8' },
  text: `
    update auth.login_budgets set
      full_at = full_at - make_interval(secs => $cost), turn_at = now() + make_interval(secs => $seconds)
    where key_hash = $key`
})
/** Refunds an attempt: the password was correct, or was not checked. */
export const refundLoginAttemptBudget = statement({
  name: 'auth.refund_login_budget',
  takes: { key: 'bytea', cost: 'float8' },
  text: 'update auth.login_budgets set full_at = full_at - make_interval(secs => $cost) where key_hash = $key'
})
export const deleteLoginBudget = statement({
  name: 'auth.delete_login_budget',
  takes: { key: 'bytea' },
  text: 'delete from auth.login_budgets where key_hash = $key'
})
/** Writes at most once a day per network. */
export const upsertKnownLoginNetwork = statement({
  name: 'auth.upsert_known_network',
  takes: { userId: 'uuid', network: 'bytea' },
  text: `
    insert into auth.known_networks as present (user_id, network_hash) values ($userId, $network)
    on conflict (user_id, network_hash) do update set seen_at = now() where present.seen_at < now() - interval '1 day'`
})

export const deleteRefilledLoginBudgets = statement({
  name: 'auth.delete_full_login_budgets',
  takes: { turnSeconds: 'float8' },
  text: `
    delete from auth.login_budgets where key_hash in
      (select key_hash from auth.login_budgets
       where full_at <= now() and coalesce(turn_at <= now() - make_interval(secs => $turnSeconds), true)
       limit 1000 for update skip locked)`
})
export const deleteOldKnownLoginNetworks = statement({
  name: 'auth.delete_old_networks',
  takes: { knownDays: 'int4' },
  text: `
    delete from auth.known_networks where (user_id, network_hash) in
      (select user_id, network_hash from auth.known_networks where seen_at <= now() - make_interval(days => $knownDays)
       limit 1000 for update skip locked)`
})
