import { newId } from '../../src/kernel/ids.ts'
import { STOCKHOLM } from '../support/checkouts.ts'
import { giftCard } from '../support/gift-cards.ts'
import type { Answer } from '../support/http-client.ts'
import type { ShopGoods } from './goods.ts'
import type { Order } from './payers.ts'
import { type Attempt, type ChaosClient, countInReport, type Units } from './run-record.ts'

const SCARCE_SHARE = 0.3
const CODE_SHARE = 0.3
const UNITS_MAX = 6
const GIFT_CARD_SHARE = 0.35
/** Share of gift cards that cover a part only. */
const SPLIT_SHARE = 0.7
const GIFT_CARD_AMOUNT_MAX = 1_000

/** `account`: the access token of an account that no other client uses, so no other client changes its cart. */
export type Buyer = ChaosClient & { goods: ShopGoods; account: string }
/** Buys once. Returns the order if one was created. */
export type PurchaseFlow = (buyer: Buyer) => Promise<Order | undefined>

type Item = { variant_id: string; quantity: number }

/** Returns the sum of units by variant. */
export function unitsOf(items: readonly Item[]): Units {
  const units: Record<string, number> = {}
  for (const { variant_id: id, quantity } of items) units[id] = (units[id] ?? 0) + quantity
  return units
}

export const itemFor = ({ dice, goods }: Buyer): Item => ({
  variant_id: dice.chance(SCARCE_SHARE) ? goods.scarce : goods.plenty,
  quantity: 1 + dice.below(UNITS_MAX)
})
export const orderFields = ({ dice, goods }: Buyer, note: string) => ({
  note,
  email: 'guest@example.com',
  shipping_address: STOCKHOLM,
  ...(dice.chance(CODE_SHARE) && { codes: [goods.code] })
})

/** Gift cards that cover a part of the order or all of it. A bit more often two, in any order. */
export const tenderFields = ({ dice, goods, record }: Buyer): object => {
  if (!dice.chance(GIFT_CARD_SHARE)) return {}
  countInReport(record, 'orders requested with gift cards')
  const codes = dice.shuffled(goods.giftCards).slice(0, 1 + dice.below(2))
  const amountOf = () => (dice.chance(SPLIT_SHARE) ? 1 + dice.below(GIFT_CARD_AMOUNT_MAX) : undefined)
  return { tenders: codes.map(code => giftCard(code, amountOf())) }
}

type AttemptOptions = { isKeyed: boolean; units?: Units | undefined; cart?: string }

export function recordAttempt({ record }: Buyer, { isKeyed, units, cart }: AttemptOptions): Attempt {
  const attempt: Attempt = { note: newId(), cart, isKeyed, units, responses: [], isRefused: false }
  record.attempts.push(attempt)
  return attempt
}

/** Records the response, and returns its order if it has one. */
export function recordResponse(
  { record }: Buyer,
  attempt: Attempt,
  answer: Answer | undefined
): Answer['json'] | undefined {
  if (answer === undefined) return undefined
  if (answer.status >= 300) {
    attempt.isRefused = answer.status < 500
    attempt.code = answer.json?.code
    countInReport(record, `orders refused: ${answer.json?.code}`)
    return undefined
  }
  const { id: orderId, number, total } = answer.json
  attempt.responses.push({ orderId, number, total, isNew: answer.status === 201 })
  return answer.json
}
