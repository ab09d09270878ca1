import { hash } from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { PaymentFact } from '../facts/fact.ts'
import type { PaymentFactRecorder } from '../facts/recorder.ts'
import type { PaymentForProvider, PaymentProviderCallbackEvent } from '../providers/port.ts'
import { findPaymentProviderEventMismatch } from './mismatch.ts'
import { insertProviderEvent } from './repository.ts'
import { sealProviderEvent } from './stored-bytes.ts'

type ReportedFacts = {
  readonly source: 'answer' | 'poll'
  readonly provider: string
  /** The id of the payment at the provider. */
  readonly objectId: string
  readonly facts: readonly PaymentFact[]
}
type Deps = { secrets: Secrets; recorder: PaymentFactRecorder }

/** Checks provider responses like callbacks before their facts are recorded. */
export function createPaymentProviderResponseRecorder({ secrets, recorder }: Deps) {
  /**
   * Records the facts of a response. The caller must call `settle` in the same transaction. A response that contradicts the
   * payment is quarantined instead, once; then the reason is returned.
   */
  return async (
    tx: Transaction,
    payment: PaymentForProvider,
    { source, provider, objectId, facts }: ReportedFacts
  ): Promise<string | undefined> => {
    const { id: paymentId, orderId } = payment
    const whole = facts.find(({ kind }) => kind === 'intent') ?? null
    const content = { about: { paymentId, orderId, objectId }, whole, facts }
    const reason = findPaymentProviderEventMismatch(content, payment)
    if (reason === undefined) {
      await recorder.recordFacts(tx, { paymentId, provider, facts, source })
      return undefined
    }
    const event: PaymentProviderCallbackEvent = {
      kind: 'event',
      id: `${source}:${paymentId}`,
      type: source,
      ...content
    }
    const raw = Buffer.from(JSON.stringify(event))
    await tx.first(insertProviderEvent, {
      id: newId(),
      provider,
      source,
      type: source,
      state: 'quarantined',
      reason,
      event_id: `${event.id}:${hash('sha256', raw)}`,
      payment_id: paymentId,
      raw: sealProviderEvent(secrets, raw)
    })
    return reason
  }
}
export type PaymentProviderResponseRecorder = ReturnType<typeof createPaymentProviderResponseRecorder>
