import { newId } from '../../src/kernel/ids.ts'
import type { Answer } from '../support/http-client.ts'
import {
  type Buyer,
  itemFor,
  orderFields,
  type PurchaseFlow,
  recordAttempt,
  recordResponse,
  tenderFields,
  unitsOf
} from './purchases.ts'
import { countInReport, sendUntilAcknowledged } from './run-record.ts'

const REPLACE_SHARE = 0.4
const TWO_TABS_SHARE = 0.5
const CANCEL_SHARE = 0.1
const PAID_AT_ONCE_SHARE = 0.3
const CARD = { provider: 'sandbox', method: 'card' }

/** Path of a checkout, and the credentials of its buyer. */
type Checkout = { path: string; who: { token?: string; headers?: object }; json: Answer['json'] }

/** Creates a checkout, updates it and orders it in two tabs simultaneously, while a third tab updates or cancels it. */
export const throughCheckout: PurchaseFlow = async buyer => {
  const { dice } = buyer
  const isGuest = dice.chance(0.5)
  const token = buyer.account
  const note = recordAttempt(buyer, { isKeyed: true, cart: newId() })
  const body = () => ({ items: [itemFor(buyer)], ...orderFields(buyer, note.note) })
  const first = body()
  const checkout = await open(buyer, isGuest ? {} : { token }, first)
  if (checkout === undefined) return undefined
  const { path, who, json } = checkout
  const replace = () => sendUntilAcknowledged(buyer, newId(), { method: 'PUT', path, ...who, body: body() })
  if (dice.chance(REPLACE_SHARE))
    countInReport(buyer.record, `checkouts replaced: ${(await replace())?.status}`)
  else note.units = unitsOf(first.items)
  const tabs = dice.chance(TWO_TABS_SHARE) ? 2 : 1
  const completed = Array.from({ length: tabs }, () => {
    const agreed = { ...(dice.chance(0.2) && { expected_total: json.total }) }
    const paid = { ...(dice.chance(PAID_AT_ONCE_SHARE) && { payment: CARD }) }
    const request = {
      method: 'POST',
      path: `${path}/complete`,
      ...who,
      body: { ...agreed, ...paid, ...tenderFields(buyer) }
    }
    return sendUntilAcknowledged(buyer, newId(), request)
  })
  const isReplacedMeanwhile = dice.chance(REPLACE_SHARE)
  if (isReplacedMeanwhile) note.units = undefined
  const meanwhile = [
    ...(isReplacedMeanwhile ? [replace()] : []),
    ...(dice.chance(CANCEL_SHARE)
      ? [sendUntilAcknowledged(buyer, newId(), { method: 'POST', path: `${path}/cancel`, ...who })]
      : [])
  ]
  const answers = await Promise.all(completed)
  for (const answer of await Promise.all(meanwhile))
    countInReport(buyer.record, `checkouts changed while they are ordered: ${answer?.status}`)
  const [order] = answers.flatMap(answer => recordResponse(buyer, note, answer) ?? [])
  if (order === undefined) return undefined
  return { id: order.id, ...(isGuest ? { guestToken: order.order_token } : { customer: token }) }
}

/** Creates a checkout. Undefined when it was rejected. */
async function open(buyer: Buyer, who: { token?: string }, body: object): Promise<Checkout | undefined> {
  const at = who.token === undefined ? '/api/checkouts/guest' : '/api/checkouts'
  const answer = await sendUntilAcknowledged(buyer, newId(), { method: 'POST', path: at, ...who, body })
  countInReport(buyer.record, `checkouts begun: ${answer?.status}`)
  if (answer?.status !== 201) return undefined
  const { id, checkout_token: proof } = answer.json
  const headers = proof === undefined ? {} : { 'x-checkout-token': proof }
  return { path: `${at}/${id}`, who: { ...who, headers }, json: answer.json }
}
