import { hash } from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { whyNot } from '../callbacks/judge.ts'
import { insertEvent, RAW } from '../callbacks/repository.ts'
import type { Fact } from '../facts/fact.ts'
import type { Recorder } from '../facts/recorder.ts'
import type { CallbackEvent, PaymentRef } from '../providers/port.ts'

type Heard = {
  readonly source: 'answer' | 'poll'
  readonly provider: string
  /** What the provider calls the payment. */
  readonly objectId: string
  readonly facts: readonly Fact[]
}
type Deps = { secrets: Secrets; recorder: Recorder }

/** What providers answer is judged as what they call back with is. */
export function createHearing({ secrets, recorder }: Deps) {
  /**
   * Writes what was said of a payment; `settle` has to follow. What cannot be about it is quarantined instead, once.
   * Answers why.
   */
  return async (
    tx: Transaction,
    payment: PaymentRef,
    { source, provider, objectId, facts }: Heard
  ): Promise<string | undefined> => {
    const { id: paymentId, orderId } = payment
    const whole = facts.find(({ kind }) => kind === 'intent') ?? null
    const said = { about: { paymentId, orderId, objectId }, whole, facts }
    const reason = whyNot(said, payment)
    if (reason === undefined) {
      await recorder.write(tx, { orderId, paymentId, provider, facts, source })
      return undefined
    }
    const event: CallbackEvent = { kind: 'event', id: `${source}:${paymentId}`, type: source, ...said }
    const raw = Buffer.from(JSON.stringify(event))
    await tx.first(insertEvent, {
      ...{ id: newId(), provider, source, type: source, state: 'quarantined', reason },
      ...{ event_id: `${event.id}:${hash('sha256', raw)}`, payment_id: paymentId },
      raw: secrets.seal(RAW, raw)
    })
    return reason
  }
}
export type Hearing = ReturnType<typeof createHearing>
