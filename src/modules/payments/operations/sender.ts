import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { OrderPaymentAccountChanges } from '../accounts/changes.ts'
import type { LockedOrderPaymentAccount } from '../accounts/locked-account.ts'
import { canceledPaymentFact } from '../facts/fact.ts'
import type { PaymentFactRecorder } from '../facts/recorder.ts'
import { sealCustomerPaymentStep } from '../payments/next-step.ts'
import * as operations from '../payments/operation-repository.ts'
import { storeProviderPaymentIdAndNextStep } from '../payments/repository.ts'
import type { PaymentProviderResponseRecorder } from '../provider-events/response-recorder.ts'
import type {
  ParsedPaymentProviderResponse,
  PaymentProvider,
  PaymentProviderOperation
} from '../providers/port.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'

type Deps = {
  db: Database
  secrets: Secrets
  providers: PaymentProviderRegistry
  recorder: Pick<PaymentFactRecorder, 'recordFacts'>
  accounts: OrderPaymentAccountChanges
  recordResponse: PaymentProviderResponseRecorder
}

type Claimed = {
  operation: operations.ClaimedPaymentOperation
  draft: PaymentProviderOperation
  provider: PaymentProvider
  request: Buffer
}

const REQUEST_ENCRYPTION_PURPOSE = 'payments.request'
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
  async function claim(tx: Transaction, id: string): Promise<Claimed | undefined> {
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
      await settle(tx, account, { operation, draft }, provider.respondLocally(draft))
      return undefined
    }
    const stored = operation.request && secrets.open(REQUEST_ENCRYPTION_PURPOSE, operation.request)
    const request = stored ?? provider.prepare(draft)
    if (operation.request === null)
      await tx.run(operations.storePaymentOperationRequest, {
        id,
        request: secrets.seal(REQUEST_ENCRYPTION_PURPOSE, request)
      })
    return { operation, draft, provider, request }
  }

  async function sendOrFind({
    operation,
    draft,
    provider,
    request
  }: Claimed): Promise<ParsedPaymentProviderResponse> {
    const isKeyExpired = operation.age_seconds > provider.idempotencyKeySeconds
    const found = isKeyExpired ? await providers.call(operation.provider, () => provider.find(draft)) : null
    if (found !== null) return found
    // The provider rejects a second capture or void by the payment's state. A second refund would pay twice, so it fails.
    if (isKeyExpired && (draft.kind === 'create' || draft.kind === 'refund'))
      return { kind: 'refused', error: 'the provider never received it', facts: [] }
    const response = await providers.call(operation.provider, () => provider.send(request, draft.id))
    if (response.kind !== 'refused' || response.facts.length > 0 || draft.kind === 'create') return response
    // After a rejection the payment is retrieved, because its state shows why the operation was rejected.
    const retrieved = await providers.call(operation.provider, () => provider.fetch(draft.payment))
    return retrieved?.kind === 'done' ? { ...response, facts: retrieved.facts } : response
  }

  async function settle(
    tx: Transaction,
    account: LockedOrderPaymentAccount,
    { operation, draft }: Pick<Claimed, 'operation' | 'draft'>,
    response: ParsedPaymentProviderResponse
  ): Promise<void> {
    const { id, payment_id, provider } = operation
    const isDone = response.kind === 'done'
    const reported = {
      source: 'answer',
      provider,
      objectId: isDone ? response.paymentObjectId : (operation.object_id ?? ''),
      facts: response.kind === 'unknown' ? [] : response.facts
    } as const
    const mismatch = await recordResponse(tx, draft.payment, reported)
    // The response contradicts the payment, so the result stays unknown. A created payment can still be voided.
    const isUnclear = isDone && draft.kind !== 'create'
    const unknown = response.kind === 'unknown' ? response.error : isUnclear ? mismatch : undefined
    if (unknown !== undefined) {
      await tx.run(operations.markPaymentOperationResultUnknown, { id, error: unknown.slice(0, 500) })
      return
    }
    await tx.run(operations.settlePaymentOperation, {
      id,
      state: isDone ? 'succeeded' : 'failed',
      object_id: isDone ? (response.objectId ?? null) : null,
      error: response.kind === 'refused' ? response.error.slice(0, 500) : null
    })
    if (isDone) {
      const next = mismatch === undefined ? response.next : undefined
      if (next !== undefined || draft.payment.objectId === null)
        await tx.run(storeProviderPaymentIdAndNextStep, {
          id: payment_id,
          object_id: response.paymentObjectId,
          next_step: next === undefined ? null : sealCustomerPaymentStep(secrets, next)
        })
    } else if (draft.kind === 'create')
      // The provider rejected the payment, so it has no object there and is closed here.
      await recorder.recordFacts(tx, {
        paymentId: payment_id,
        provider,
        source: 'answer',
        facts: [canceledPaymentFact(draft.payment)]
      })
    await accounts.settle(tx, account)
  }

  /** Sends an operation. A retry sends the same bytes with the same idempotency key. */
  async function send(id: string, withoutSlot: RunWithoutRequestSlot = work => work()): Promise<void> {
    const claimed = await db.transaction(tx => claim(tx, id))
    if (claimed === undefined) return
    const response = await withoutSlot(() => sendOrFind(claimed))
    await db.transaction(async tx => {
      const account = await accounts.lock(tx, claimed.operation.order_id)
      await settle(tx, account, claimed, response)
    })
  }

  return {
    send,
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
