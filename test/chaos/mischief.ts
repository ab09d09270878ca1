import { setTimeout as delay } from 'node:timers/promises'
import { type Book, count } from './book.ts'
import type { Dice } from './dice.ts'
import type { Stage } from './stage.ts'

const PAUSE_MS = 250
/** What comes back makes an order's money a case of its own, so most refunds stay. */
const RETURNED_SHARE = 0.03
const IDLE_SHARE = 0.8

/** Operations that a provider performs without the shop, by the state of the payment. */
const DEEDS: Readonly<Record<string, readonly string[]>> = {
  pending: ['fail', 'expire'],
  requires_action: ['fail', 'pay', 'expire'],
  failed: ['pay'],
  authorized: ['capture', 'expire'],
  canceled: ['capture_late'],
  succeeded: ['dispute']
}

/** Does what banks and customers do behind the shop's back, until told to stop. */
export async function makeMischief({ site, sandbox }: Stage, book: Book, dice: Dice): Promise<void> {
  while (!book.stopping) {
    await delay(PAUSE_MS)
    const payments = await site
      .sql(
        `select object_id, status from payments.payments where object_id like 'pi_%' order by id desc limit 40`
      )
      .catch(() => [])
    const refunds = await site
      .sql(
        `select facts.object_id, payments.object_id as payment from payments.facts
         join payments.payments on payments.id = payment_id
         where facts.object_id like 're_%' and facts.status = 'succeeded' limit 40`
      )
      .catch(() => [])
    if (refunds.length > 0 && dice.chance(RETURNED_SHARE)) {
      const refund = dice.of(refunds)
      book.keptBack.add(String(refund.payment))
      await sandbox.ask(`/test/refunds/${refund.object_id}/fail`, {})
      count(book, 'mischief: a refund comes back')
    }
    if (payments.length === 0) continue
    const { object_id, status } = dice.of(payments)
    const deeds = DEEDS[String(status)] ?? []
    if (deeds.length === 0 || dice.chance(IDLE_SHARE)) continue
    const deed = dice.of(deeds)
    if (deed.startsWith('capture')) book.takenLate.add(String(object_id))
    const answer = await sandbox.ask(`/test/payment_intents/${object_id}/${deed}`, {})
    if (answer?.status !== undefined) count(book, `mischief: ${deed}`)
  }
}
