import type { Terms } from '../placing/terms.ts'
import { type Life, refusalOf } from './actions.ts'
import { left, type Units } from './counters.ts'
import type { PaymentStatus } from './status.ts'

/** Its money is taken, and not all of it has gone back. What is only held may never be taken. */
const PAID: readonly (PaymentStatus | null)[] = ['paid', 'partially_refunded']

/** What the shop delivers by itself now: all that needs no carrier, once it is paid or the buyer has credit. */
export function deliverable(life: Life, terms: Terms): Units[] {
  if (refusalOf('fulfil', life, 'system', 'never') !== undefined) return []
  if (terms !== 'on_account' && !PAID.includes(life.paymentStatus)) return []
  return life.lines
    .filter(line => !line.requiresShipping && left.fulfil(line) > 0)
    .map(line => ({ line: line.line, quantity: left.fulfil(line) }))
}
