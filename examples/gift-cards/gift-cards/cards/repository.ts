import { json, type RowOf, statement } from 'cartwright'

export type NewCard = {
  readonly id: string
  readonly code_hash: string
  /** Base64 of the encrypted code. */
  readonly sealed_code: string
  readonly label: string
  readonly currency: string
  readonly worth: number
  readonly order_id: string
}
/** Issues cards. Those that exist already stay as they are. Returns the ids of the new ones. */
export const insertCards = statement({
  name: 'gift_cards.insert_cards',
  takes: { cards: json<readonly NewCard[]>(), valid_days: 'int4' },
  gives: { id: 'uuid' },
  text: `
    with new as (
      insert into gift_cards.cards (id, code_hash, sealed_code, label, currency, balance, order_id, expires_at)
      select id, code_hash, decode(sealed_code, 'base64'), label, currency, worth, order_id,
        now() + make_interval(days => $valid_days)
      from jsonb_to_recordset($cards) as rows (
        id uuid, code_hash text, sealed_code text, label text, currency text, worth bigint, order_id uuid)
      on conflict (id) do nothing returning id, balance
    ), issued as (
      insert into gift_cards.entries (id, card_id, kind, amount) select id, id, 'issued', balance from new
    )
    select id from new`
})
export const findUnsentCode = statement({
  name: 'gift_cards.find_unsent_code',
  takes: { id: 'uuid' },
  gives: {
    order_id: 'uuid',
    sealed_code: 'bytea?',
    currency: 'text',
    balance: 'int8',
    expires_at: 'timestamptz'
  },
  text: 'select order_id, sealed_code, currency, balance, expires_at from gift_cards.cards where id = $id'
})
export const forgetCode = statement({
  name: 'gift_cards.forget_code',
  takes: { id: 'uuid' },
  text: 'update gift_cards.cards set sealed_code = null where id = $id'
})

const card = { id: 'uuid', currency: 'text', balance: 'int8', is_expired: 'bool' } as const
const cardOfCode = `
  select id, currency, balance, expires_at <= clock_timestamp() as is_expired from gift_cards.cards
  where code_hash = any ($hashes)`
export const findCard = statement({
  name: 'gift_cards.find_card',
  takes: { hashes: 'text[]' },
  gives: card,
  text: cardOfCode
})
export const lockCard = statement({
  name: 'gift_cards.lock_card',
  takes: { hashes: 'text[]' },
  gives: card,
  text: `${cardOfCode} for update`
})
export type CardRow = RowOf<typeof findCard>
/** Locks the cards of reservations or redemptions, in the order of their ids. */
export const lockCardsOfTenders = statement({
  name: 'gift_cards.lock_cards_of_tenders',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid' },
  text: `
    select id from gift_cards.cards
    where id in (
      select card_id from gift_cards.reservations where id = any ($ids)
      union select card_id from gift_cards.entries where id = any ($ids))
    order by id for update`
})
/** Sums the reservations of a card that have not expired, except this one. */
export const sumOtherReservations = statement({
  name: 'gift_cards.sum_other_reservations',
  takes: { card_id: 'uuid', id: 'uuid' },
  gives: { reserved: 'int8' },
  text: `
    select coalesce(sum(amount), 0)::int8 as reserved from gift_cards.reservations
    where card_id = $card_id and id <> $id and expires_at > clock_timestamp()`
})
export const findRedeemedAmount = statement({
  name: 'gift_cards.find_redeemed_amount',
  takes: { id: 'uuid' },
  gives: { amount: 'int8' },
  text: `select -amount as amount from gift_cards.entries where id = $id and kind = 'redeemed'`
})
export const saveReservation = statement({
  name: 'gift_cards.save_reservation',
  takes: { id: 'uuid', card_id: 'uuid', amount: 'int8', seconds: 'float8' },
  text: `
    insert into gift_cards.reservations (id, card_id, amount, expires_at)
    values ($id, $card_id, $amount, clock_timestamp() + make_interval(secs => $seconds))
    on conflict (id) do update
      set card_id = excluded.card_id, amount = excluded.amount, expires_at = excluded.expires_at`
})
export const deleteReservations = statement({
  name: 'gift_cards.delete_reservations',
  takes: { ids: 'uuid[]' },
  text: 'delete from gift_cards.reservations where id = any ($ids)'
})
/** Takes reserved amounts from the balances. Returns how many of these tenders are redeemed now. The cards are locked. */
export const redeemReservations = statement({
  name: 'gift_cards.redeem_reservations',
  takes: { ids: 'uuid[]' },
  gives: { redeemed: 'int4' },
  text: `
    with due as (
      delete from gift_cards.reservations where id = any ($ids) and expires_at > clock_timestamp()
      returning id, card_id, amount
    ), new as (
      insert into gift_cards.entries (id, card_id, kind, amount) select id, card_id, 'redeemed', -amount from due
    ), sums as (
      select card_id, sum(amount) as amount from due group by card_id
    ), taken as (
      update gift_cards.cards set balance = balance - sums.amount from sums where cards.id = sums.card_id
    )
    select ((select count(*) from due)
      + (select count(*) from gift_cards.entries where id = any ($ids) and kind = 'redeemed'))::int as redeemed`
})
export type RefundToCard = { readonly id: string; readonly tenderId: string; readonly amountMinor: number }
/** Gives refunds back to the balances, each once, and keeps the cards valid for a while. The cards are locked. */
export const refundToCards = statement({
  name: 'gift_cards.refund_to_cards',
  takes: { refunds: json<readonly RefundToCard[]>(), valid_days: 'int4' },
  text: `
    with new as (
      insert into gift_cards.entries (id, card_id, kind, amount)
      select rows.id, redeemed.card_id, 'refunded', rows."amountMinor"
      from jsonb_to_recordset($refunds) as rows (id uuid, "tenderId" uuid, "amountMinor" bigint)
      join gift_cards.entries redeemed on redeemed.id = rows."tenderId"
      on conflict (id) do nothing returning card_id, amount
    ), sums as (
      select card_id, sum(amount) as amount from new group by card_id
    )
    update gift_cards.cards set balance = balance + sums.amount,
      expires_at = greatest(expires_at, now() + make_interval(days => $valid_days))
    from sums where cards.id = sums.card_id`
})
/** Ends expired cards that no order has reserved, up to a limit. Returns how many. */
export const expireCards = statement({
  name: 'gift_cards.expire_cards',
  takes: { limit: 'int8' },
  gives: { expired: 'int4' },
  text: `
    with due as (
      select id, balance from gift_cards.cards
      where expires_at <= now() and balance > 0 and not exists (
        select from gift_cards.reservations where card_id = cards.id and reservations.expires_at > clock_timestamp())
      order by expires_at limit $limit for update skip locked
    ), new as (
      insert into gift_cards.entries (id, card_id, kind, amount)
      select gen_random_uuid(), id, 'expired', -balance from due
    ), ended as (
      update gift_cards.cards set balance = 0 from due where cards.id = due.id
    )
    select count(*)::int as expired from due`
})
/** Voids what is left on the cards that these orders bought. */
export const voidCardsOfOrders = statement({
  name: 'gift_cards.void_cards_of_orders',
  takes: { order_ids: 'uuid[]' },
  text: `
    with due as (
      select id, balance from gift_cards.cards where order_id = any ($order_ids) and balance > 0 order by id for update
    ), new as (
      insert into gift_cards.entries (id, card_id, kind, amount) select gen_random_uuid(), id, 'voided', -balance from due
    )
    update gift_cards.cards set balance = 0, expires_at = least(expires_at, now()) from due where cards.id = due.id`
})
export const deleteExpiredReservations = statement({
  name: 'gift_cards.delete_expired_reservations',
  text: `delete from gift_cards.reservations where expires_at < now() - interval '1 day'`
})
/** Finds cards whose entries do not add up to their balance. */
export const findWrongBalances = statement({
  name: 'gift_cards.find_wrong_balances',
  gives: { id: 'uuid', balance: 'int8', entries: 'int8' },
  text: `
    select cards.id, cards.balance, sum(entries.amount)::int8 as entries
    from gift_cards.cards join gift_cards.entries on entries.card_id = cards.id
    group by cards.id having cards.balance <> sum(entries.amount) limit 10`
})
