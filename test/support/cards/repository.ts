import { json, statement } from '../../../src/platform/postgres/statement.ts'

export const insertCard = statement({
  name: 'cards.insert_card',
  takes: { id: 'uuid', code: 'text', currency: 'text', amount: 'int8' },
  text: `
    insert into cards.cards (id, code, currency, issued, balance) values ($id, $code, $currency, $amount, $amount)`
})
const card = { id: 'uuid', currency: 'text', balance: 'int8' } as const
export const findCard = statement({
  name: 'cards.find_card',
  takes: { code: 'text' },
  gives: card,
  text: 'select id, currency, balance from cards.cards where code = $code'
})
export const lockCard = statement({
  name: 'cards.lock_card',
  takes: { code: 'text' },
  gives: card,
  text: 'select id, currency, balance from cards.cards where code = $code for update'
})
export const lockCardsOfUses = statement({
  name: 'cards.lock_cards_of_uses',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid' },
  text: `
    select id from cards.cards where id in (select card_id from cards.uses where id = any ($ids)) order by id for update`
})
/** Sums the reservations of a card that have not expired, without that of `id`. */
export const sumReserved = statement({
  name: 'cards.sum_reserved',
  takes: { card_id: 'uuid', id: 'uuid' },
  gives: { reserved: 'int8' },
  text: `
    select coalesce(sum(amount), 0)::int8 as reserved from cards.uses
    where card_id = $card_id and id <> $id and not is_confirmed and expires_at > clock_timestamp()`
})
export const findConfirmedUse = statement({
  name: 'cards.find_confirmed_use',
  takes: { id: 'uuid' },
  gives: { amount: 'int8' },
  text: 'select amount from cards.uses where id = $id and is_confirmed'
})
export const saveReservation = statement({
  name: 'cards.save_reservation',
  takes: { id: 'uuid', card_id: 'uuid', amount: 'int8', seconds: 'float8' },
  text: `
    insert into cards.uses (id, card_id, amount, expires_at)
    values ($id, $card_id, $amount, clock_timestamp() + make_interval(secs => $seconds))
    on conflict (id) do update
      set card_id = excluded.card_id, amount = excluded.amount, expires_at = excluded.expires_at`
})
/** Confirms reservations and takes them from the balances. Returns how many of the uses are confirmed now. */
export const confirmUses = statement({
  name: 'cards.confirm_uses',
  takes: { ids: 'uuid[]' },
  gives: { confirmed: 'int4' },
  text: `
    with new as (
      update cards.uses set is_confirmed = true
      where id = any ($ids) and not is_confirmed and expires_at > clock_timestamp() returning card_id, amount
    ), taken as (
      update cards.cards set balance = balance - sums.amount
      from (select card_id, sum(amount) as amount from new group by card_id) as sums where cards.id = sums.card_id
    )
    select ((select count(*) from new) + (select count(*) from cards.uses where id = any ($ids) and is_confirmed))::int
      as confirmed`
})
export const deleteReservations = statement({
  name: 'cards.delete_reservations',
  takes: { ids: 'uuid[]' },
  text: 'delete from cards.uses where id = any ($ids) and not is_confirmed'
})
export const insertRefunds = statement({
  name: 'cards.insert_refunds',
  takes: { refunds: json<readonly { id: string; tenderId: string; amountMinor: number }[]>() },
  text: `
    with new as (
      insert into cards.refunds (id, use_id, amount)
      select id, "tenderId", "amountMinor"
      from jsonb_to_recordset($refunds) as rows (id uuid, "tenderId" uuid, "amountMinor" bigint)
      on conflict (id) do nothing returning use_id, amount
    )
    update cards.cards set balance = balance + sums.amount
    from (select card_id, sum(new.amount) as amount from new join cards.uses on uses.id = new.use_id group by card_id) as sums
    where cards.id = sums.card_id`
})
