import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { OrderPaymentAccountChanges } from '../accounts/changes.ts'
import type { LockedOrderPaymentAccount } from '../accounts/locked-account.ts'
import { canceledPaymentFact } from '../facts/fact.ts'
import type { PaymentFactRecorder } from '../facts/recorder.ts'
import { sealCustomerPaymentStep } from '../payments/next-step.ts'
import * as operations from '../payments/operation-repository.ts'
import {
  openPaymentRequest,
  type PreparedPaymentOperation,
  sealPaymentRequest
} from '../payments/prepared-operation.ts'
import { storeProviderPaymentIdAndNextStep } from '../payments/repository.ts'
import type { PaymentProviderResponseRecorder } from '../provider-events/response-recorder.ts'
import type { ParsedPaymentProviderResponse, PaymentProviderOperation } from '../providers/port.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'

type Deps = {
  db: Database
  secrets: Secrets
  providers: PaymentProviderRegistry
  recorder: Pick<PaymentFactRecorder, 'recordFacts'>
  accounts: OrderPaymentAccountChanges
  recordResponse: PaymentProviderResponseRecorder
}

/** Pauses before a retry of an operation without a result. The last one repeats. */
const PAUSES_SECONDS = [15, 60, 300, 1_800, 7_200, 43_200]

/** Sends operations to providers and records the responses. During the request no lock, connection or request slot is held. */
export function createPaymentOperationSender({
  db,
  secrets,
  providers,
  recorder,
  accounts,
  recordResponse
}: Deps) {
  /**
   * Marks an operation as sent before it is sent. Returns `undefined` when it has a result, or the provider needs no call for
   * it.
   */
  async function claim(tx: Transaction, id: string): Promise<PreparedPaymentOperation | undefined> {
    const open = await tx.first(operations.findOrderOfPaymentOperation, { id })
    if (open === undefined) return undefined
    const { order_id } = open
    // A cancellation locks the account, too, so it either sees this operation as sent or drops it.
    const account = await accounts.lock(tx, order_id)
    const operation = await tx.first(operations.claimPaymentOperation, { id, pauses: PAUSES_SECONDS })
    if (operation === undefined) return undefined
    const draft = draftOf(operation)
    const provider = providers.get(operation.provider)
    if (provider.respondLocally !== undefined) {
      await settle(tx, account, { provider: operation.provider, draft }, provider.respondLocally(draft))
      return undefined
    }
    const stored = operation.request && openPaymentRequest(secrets, operation.request)
    const request = stored ?? provider.prepare(draft)
    if (operation.request === null)
      await tx.run(operations.storePaymentOperationRequest, {
        id,
        request: sealPaymentRequest(secrets, request)
      })
    return { draft, provider: operation.provider, request, ageSeconds: operation.age_seconds }
  }

  async function sendOrFind({
    draft,
    provider: name,
    request,
    ageSeconds
  }: PreparedPaymentOperation): Promise<ParsedPaymentProviderResponse> {
    const provider = providers.get(name)
    const isKeyExpired = ageSeconds > provider.idempotencyKeySeconds
    const found = isKeyExpired ? await providers.call(name, () => provider.find(draft)) : null
    if (found !== null) return found
    // The provider rejects a second capture or void by the payment's state. A second refund would pay twice, so it fails.
    if (isKeyExpired && (draft.kind === 'create' || draft.kind === 'refund'))
      return { kind: 'refused', error: 'the provider never received it', facts: [] }
    const response = await providers.call(name, () => provider.send(request, draft.id))
    if (response.kind !== 'refused' || response.facts.length > 0 || draft.kind === 'create') return response
    // After a rejection the payment is retrieved, because its state shows why the operation was rejected.
    const retrieved = await providers.call(name, () => provider.fetch(draft.payment))
    return retrieved?.kind === 'done' ? { ...response, facts: retrieved.facts } : response
  }

  async function settle(
    tx: Transaction,
    account: LockedOrderPaymentAccount,
    { provider, draft }: Pick<PreparedPaymentOperation, 'provider' | 'draft'>,
    response: ParsedPaymentProviderResponse
  ): Promise<{ isUnchanged: boolean }> {
    const { id, payment } = draft
    const isDone = response.kind === 'done'
    const reported = {
      source: 'answer',
      provider,
      objectId: isDone ? response.paymentObjectId : (payment.objectId ?? ''),
      facts: response.kind === 'unknown' ? [] : response.facts
    } as const
    const mismatch = await recordResponse(tx, payment, reported)
    // The response contradicts the payment, so the result stays unknown. A created payment can still be voided.
    const isUnclear = isDone && draft.kind !== 'create'
    const unknown = response.kind === 'unknown' ? response.error : isUnclear ? mismatch : undefined
    if (unknown !== undefined) {
      await tx.run(operations.markPaymentOperationResultUnknown, { id, error: unknown.slice(0, 500) })
      return { isUnchanged: true }
    }
    await tx.run(operations.settlePaymentOperation, {
      id,
      state: isDone ? 'succeeded' : 'failed',
      object_id: isDone ? (response.objectId ?? null) : null,
      error: response.kind === 'refused' ? response.error.slice(0, 500) : null
    })
    if (isDone) {
      const next = mismatch === undefined ? response.next : undefined
      if (next !== undefined || payment.objectId === null)
        await tx.run(storeProviderPaymentIdAndNextStep, {
          id: payment.id,
          object_id: response.paymentObjectId,
          next_step: next === undefined ? null : sealCustomerPaymentStep(secrets, next)
        })
    } else if (draft.kind === 'create')
      // The provider rejected the payment, so it has no object there and is closed here.
      await recorder.recordFacts(tx, {
        paymentId: payment.id,
        provider,
        source: 'answer',
        facts: [canceledPaymentFact(payment)]
      })
    return accounts.settle(tx, account)
  }

  /** Sends an operation. A retry sends the same bytes with the same idempotency key. */
  async function send(id: string, withoutSlot: RunWithoutRequestSlot = work => work()): Promise<void> {
    const claimed = await db.transaction(tx => claim(tx, id))
    if (claimed !== undefined) await sendPrepared(claimed, withoutSlot)
  }

  /** Sends an operation that is marked as sent. Returns whether the response left the payments of the order as they were. */
  async function sendPrepared(
    prepared: PreparedPaymentOperation,
    withoutSlot: RunWithoutRequestSlot = work => work()
  ): Promise<{ isUnchanged: boolean }> {
    const response = await withoutSlot(() => sendOrFind(prepared))
    return db.transaction(async tx => {
      const account = await accounts.lock(tx, prepared.draft.payment.orderId)
      return settle(tx, account, prepared, response)
    })
  }

  return {
    send,
    sendPrepared,
    /** Sends the open operations of an order, one at a time. */
    sendOpenOperations: async (orderId: string, withoutSlot?: RunWithoutRequestSlot): Promise<void> => {
      const open = await db.rows(operations.listOpenPaymentOperationsOfOrder, { order_id: orderId })
      for (const { id } of open) await send(id, withoutSlot)
    }
  }
}
export type PaymentOperationSender = ReturnType<typeof createPaymentOperationSender>

const draftOf = (operation: operations.ClaimedPaymentOperation): PaymentProviderOperation => ({
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
