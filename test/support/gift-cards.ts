import { drawCode, hashCode, labelOf } from '../../examples/gift-cards/gift-cards/cards/codes.ts'
import { newId } from '../../src/kernel/ids.ts'
import { testSecrets } from './secrets.ts'

/** The settings of a shop with gift cards whose tests send wrong codes. */
export const GIFT_CARD_SETTINGS = { CARTWRIGHT__GIFT_CARDS__WRONG_CODES_PER_MINUTE: '1000000' }

type RunSql = (text: string) => Promise<Record<string, unknown>[]>

/** Issues gift cards without an order, in a shop with the module of `examples/gift-cards`, and reads their balances. */
export const giftCardsIn = (sql: RunSql) => ({
  /** Returns the code of a new card. */
  issue: async (balance: number, currency = 'USD'): Promise<string> => {
    const [id, code] = [newId(), drawCode()]
    await sql(`
      with card as (
        insert into gift_cards.cards (id, code_hash, label, currency, balance, order_id, expires_at)
        values ('${id}', '${hashCode(testSecrets(), code)}', '${labelOf(code)}', '${currency}', ${balance},
          gen_random_uuid(), now() + interval '1 year')
      )
      insert into gift_cards.entries (id, card_id, kind, amount) values ('${id}', '${id}', 'issued', ${balance})`)
    return code
  },
  balanceOf: async (code: string): Promise<number> => {
    const hash = hashCode(testSecrets(), code)
    const [card] = await sql(`select balance::float8 from gift_cards.cards where code_hash = '${hash}'`)
    return Number(card?.balance)
  }
})

const RULES: Readonly<Record<string, string>> = {
  'the balance of a gift card is not the sum of its entries': `
    select cards.id, balance from gift_cards.cards left join gift_cards.entries on card_id = cards.id
    group by cards.id having balance <> coalesce(sum(amount), 0)`,

  'what a gift card gave is not a tender of an order': `
    select coalesce(tenders.id, redeemed.id) as id, tenders.amount, -redeemed.amount as redeemed
    from (select * from orders.tenders where type = 'gift_card') as tenders
    full join (select * from gift_cards.entries where kind = 'redeemed') as redeemed using (id)
    where tenders.amount is distinct from -redeemed.amount`,

  'what a gift card got back is not what its tenders got back': `
    with given as (
      select card_id, sum(refunded) as amount from orders.tenders join gift_cards.entries using (id) group by card_id
    ), received as (
      select card_id, sum(amount) as amount from gift_cards.entries where kind = 'refunded' group by card_id
    )
    select card_id, given.amount as given, received.amount as received
    from given full join received using (card_id)
    where coalesce(given.amount, 0) <> coalesce(received.amount, 0)`
}

/** Returns a sentence for each rule of gift cards that the tables break. */
export async function brokenGiftCards(sql: RunSql): Promise<string[]> {
  const broken: string[] = []
  for (const [rule, text] of Object.entries(RULES)) {
    const rows = await sql(text)
    if (rows.length > 0) broken.push(`${rule} (${rows.length}): ${JSON.stringify(rows[0])}`)
  }
  return broken
}

/** A tender of an order. `amount`: what it must cover. */
export const giftCard = (code: string, amount?: number) => ({
  type: 'gift_card',
  code,
  ...(amount !== undefined && { amount })
})
