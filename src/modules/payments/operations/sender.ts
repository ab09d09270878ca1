import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { Fact } from '../facts/fact.ts'
import type { Recorder } from '../facts/recorder.ts'
import { lockAccount } from '../facts/repository.ts'
import { setObject } from '../payments/repository.ts'
import type { Answer, Draft } from '../providers/port.ts'
import type { Providers } from '../providers/registry.ts'
import type { Hearing } from '../quarantine/hearing.ts'
import * as repository from './repository.ts'

type Deps = { db: Database; secrets: Secrets; providers: Providers; recorder: Recorder; hear: Hearing }

const REQUEST = 'payments.request'
export const NEXT_STEP = 'payments.next_step'
/** How long to wait for an answer before asking again: longer each time, and then twice a day. */
const PAUSES_SECONDS = [15, 60, 300, 1_800, 7_200, 43_200]

/** Asks providers for what was decided, and records what they say. No lock is held meanwhile. */
export function createSender({ db, secrets, providers, recorder, hear }: Deps) {
  /** Notes that it is sent, before it is; `undefined` when there is nothing left to send. */
  async function claim(tx: Transaction, id: string) {
    const open = await tx.first(repository.findOrderOf, { id })
    if (open === undefined) return undefined
    const { order_id } = open
    // Whoever cancels the order holds it, too: either this is known to be sent, or it never will be.
    await tx.run(lockAccount, { order_id })
    const operation = await tx.first(repository.claimOperation, { id, pauses: PAUSES_SECONDS })
    if (operation === undefined) return undefined
    const draft = draftOf(operation)
    const provider = providers.get(operation.provider)
    const kept = operation.request && secrets.open(REQUEST, operation.request)
    const request = kept ?? provider.prepare(draft)
    if (operation.request === null)
      await tx.run(repository.keepRequest, { id, request: secrets.seal(REQUEST, request) })
    return { operation, draft, provider, request }
  }
  type Claimed = NonNullable<Awaited<ReturnType<typeof claim>>>

  async function ask({ operation, draft, provider, request }: Claimed): Promise<Answer> {
    const isForgotten = operation.age_seconds > provider.keySeconds
    const found = isForgotten ? await providers.guard(provider.name, () => provider.find(draft)) : null
    if (found !== null) return found
    // To take or to let go of the same payment twice is refused by its state; money is not sent back twice on a guess.
    if (isForgotten && (draft.kind === 'create' || draft.kind === 'refund'))
      return { kind: 'refused', error: 'it never arrived', facts: [] }
    const answer = await providers.guard(provider.name, () => provider.send(request, draft.id))
    if (answer.kind !== 'refused' || answer.facts.length > 0 || draft.kind === 'create') return answer
    // Why not is seen by the payment.
    const present = await providers.guard(provider.name, () => provider.fetch(draft.payment))
    return present?.kind === 'done' ? { ...answer, facts: present.facts } : answer
  }

  async function settle(tx: Transaction, { operation, draft }: Claimed, answer: Answer): Promise<void> {
    const { id, payment_id, order_id, provider } = operation
    await tx.run(lockAccount, { order_id })
    const isDone = answer.kind === 'done'
    const heard = {
      source: 'answer',
      provider,
      objectId: isDone ? answer.paymentObjectId : (operation.object_id ?? ''),
      facts: answer.kind === 'unknown' ? [] : answer.facts
    } as const
    const strange = await hear(tx, draft.payment, heard)
    // Something was done, but not this: nobody may take it for done, or do it in another way. A payment can be let go of.
    const isUnclear = isDone && draft.kind !== 'create'
    const unknown = answer.kind === 'unknown' ? answer.error : isUnclear ? strange : undefined
    if (unknown !== undefined) {
      await tx.run(repository.noteUnknown, { id, error: unknown.slice(0, 500) })
      return
    }
    await tx.run(repository.settleOperation, {
      id,
      state: isDone ? 'succeeded' : 'failed',
      object_id: isDone ? (answer.objectId ?? null) : null,
      error: answer.kind === 'refused' ? answer.error.slice(0, 500) : null
    })
    if (isDone) {
      const next = strange === undefined ? answer.next : undefined
      await tx.run(setObject, {
        id: payment_id,
        object_id: answer.paymentObjectId,
        next_step: next === undefined ? null : secrets.seal(NEXT_STEP, Buffer.from(JSON.stringify(next)))
      })
    } else if (draft.kind === 'create')
      // A payment that the provider refused to make is over; nobody there knows of it.
      await recorder.write(tx, {
        ...{ orderId: order_id, paymentId: payment_id, provider, source: 'answer' },
        facts: [canceledByShop(draft.payment)]
      })
    await recorder.settle(tx, order_id)
  }

  /** Sends it once more when it was sent before: the same bytes under the same key. */
  async function send(id: string): Promise<void> {
    const claimed = await db.transaction(tx => claim(tx, id))
    if (claimed === undefined) return
    const answer = await ask(claimed)
    await db.transaction(tx => settle(tx, claimed, answer))
  }

  return {
    send,
    /** Sends all that is open of an order, one after the other. */
    sendAllOf: async (orderId: string): Promise<void> => {
      const open = await db.rows(repository.listOpenOf, { order_id: orderId })
      for (const { id } of open) await send(id)
    }
  }
}
export type Sender = ReturnType<typeof createSender>

const draftOf = (operation: repository.ClaimedOperation): Draft => ({
  id: operation.id,
  kind: operation.kind,
  amount: operation.amount,
  reference: operation.reference,
  payment: {
    id: operation.payment_id,
    orderId: operation.order_id,
    method: operation.method,
    amount: operation.total,
    currency: operation.currency,
    objectId: operation.object_id
  }
})

export const canceledByShop = ({
  id,
  amount,
  currency
}: {
  id: string
  amount: number
  currency: string
}): Fact => ({
  kind: 'intent',
  objectId: id,
  status: 'canceled',
  amount,
  currency
})
