import { newId } from '../../src/kernel/ids.ts'
import { STOCKHOLM } from '../support/checkouts.ts'
import type { Answer } from '../support/http-client.ts'
import { type Attempt, count, type Person } from './book.ts'
import type { Order } from './payers.ts'
import type { Goods } from './stage.ts'

const SCARCE_SHARE = 0.3
const CODE_SHARE = 0.3

/** `account`: the access token of theirs alone, so that nobody else is in their cart. */
export type Buyer = Person & { goods: Goods; account: string }
/** A way to buy something once; answers the order, when there is one. */
export type Way = (buyer: Buyer) => Promise<Order | undefined>

export const items = ({ dice, goods }: Buyer) => [
  {
    variant_id: dice.chance(SCARCE_SHARE) ? goods.scarce : goods.plenty,
    quantity: 1 + dice.below(3)
  }
]
export const said = ({ dice, goods }: Buyer, note: string) => ({
  note,
  email: 'guest@example.com',
  shipping_address: STOCKHOLM,
  ...(dice.chance(CODE_SHARE) && { codes: [goods.code] })
})

export function begin({ book }: Buyer, isKeyed: boolean, cart?: string): Attempt {
  const attempt: Attempt = { note: newId(), cart, isKeyed, told: [], isRefused: false }
  book.attempts.push(attempt)
  return attempt
}

/** Notes what somebody was told, and answers the order if there is one. */
export function hear(
  { book }: Buyer,
  attempt: Attempt,
  answer: Answer | undefined
): Answer['json'] | undefined {
  if (answer === undefined) return undefined
  if (answer.status >= 300) {
    attempt.isRefused = answer.status < 500
    count(book, `orders refused: ${answer.json?.code}`)
    return undefined
  }
  const { id: orderId, number, total } = answer.json
  attempt.told.push({ orderId, number, total, isNew: answer.status === 201 })
  return answer.json
}
