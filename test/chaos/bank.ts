import { setTimeout as delay } from 'node:timers/promises'
import type { Dice } from './dice.ts'
import { countInReport, type RunRecord } from './run-record.ts'
import type { ChaosStage } from './stage.ts'

const PAUSE_MS = 250
/** Share of refunds that fail later. Small, because the refunds of such an order cannot be verified exactly. */
const RETURNED_SHARE = 0.03
const IDLE_SHARE = 0.8

/** Operations that a provider performs without the shop, by the state of the payment. */
const OPERATIONS_BY_STATUS: Readonly<Record<string, readonly string[]>> = {
  pending: ['fail', 'expire'],
  requires_action: ['fail', 'pay', 'expire'],
  failed: ['pay'],
  authorized: ['capture', 'expire'],
  canceled: ['capture_late'],
  succeeded: ['dispute']
}

/** Performs operations of banks and customers that the shop did not request, until the run stops. */
export async function actAsBank({ site, sandbox }: ChaosStage, record: RunRecord, dice: Dice): Promise<void> {
  while (!record.stopping) {
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
      record.keptBack.add(String(refund.payment))
      await sandbox.ask(`/test/refunds/${refund.object_id}/fail`, {})
      countInReport(record, 'mischief: a refund comes back')
    }
    if (payments.length === 0) continue
    const { object_id, status } = dice.of(payments)
    const deeds = OPERATIONS_BY_STATUS[String(status)] ?? []
    if (deeds.length === 0 || dice.chance(IDLE_SHARE)) continue
    const deed = dice.of(deeds)
    if (deed.startsWith('capture')) record.takenLate.add(String(object_id))
    const answer = await sandbox.ask(`/test/payment_intents/${object_id}/${deed}`, {})
    if (answer?.status !== undefined) countInReport(record, `mischief: ${deed}`)
  }
}
