import assert from 'node:assert/strict'
import { newId } from '../kernel/ids.ts'
import type {
  ParsedPaymentProviderResponse,
  PaymentFact,
  PaymentForProvider,
  PaymentProvider,
  PaymentProviderOperation
} from '../modules/payments/index.ts'
import type { ContractCase } from './tender.ts'

type SignedCallback = { readonly raw: Buffer; readonly headers: Readonly<Record<string, unknown>> }

/**
 * A payment provider under test, with what a test needs of the service behind it.
 * @example
 * const subjectOf = (provider: PaymentProvider): PaymentProviderContractSubject => ({ provider, currency: 'EUR' })
 */
export type PaymentProviderContractSubject = {
  readonly provider: PaymentProvider
  readonly currency: string
  /** A currency that the provider does not support. Absent: it supports all currencies. */
  readonly unsupportedCurrency?: string
  /** Does what the customer does after the request. Absent: the customer does nothing, or nothing that the provider sees. */
  pay?(payment: PaymentForProvider): Promise<void>
  /** Makes the service do the next request without an answer. Absent: the provider calls no service. */
  loseNextAnswer?(): Promise<void> | void
  /** Makes the service decline the next payment in its answer. Absent: it declines no payment in its answer. */
  declineNext?(): Promise<void> | void
  /** Returns a callback about this payment as the service signs it at that time. Required for a provider with callbacks. */
  callbackOf?(payment: PaymentForProvider, signedAt: Date): Promise<SignedCallback> | SignedCallback
}

const [AMOUNT, PART] = [10_000, 3_000]
const DAY_MS = 86_400_000
const MINUTES_MS = 60_000

/**
 * The contract of `payments.provider`, for the tests of a provider. Run each case as a test.
 * @example
 * const register = (
 *   subject: PaymentProviderContractSubject,
 *   test: (name: string, run: () => Promise<void>) => void
 * ) => {
 *   for (const { name, run } of paymentProviderContract(subject)) test(name, run)
 * }
 * assert.equal(register.length, 2)
 */
export function paymentProviderContract(subject: PaymentProviderContractSubject): readonly ContractCase[] {
  const { provider, currency, unsupportedCurrency, pay, loseNextAnswer, declineNext, callbackOf } = subject
  const { callbacks, list } = provider

  const newDraft = (): PaymentProviderOperation => {
    const id = newId()
    const method = provider.methods[0] ?? ''
    const payment = { id, orderId: newId(), method, amount: AMOUNT, currency, objectId: null }
    return { id, kind: 'create', amount: AMOUNT, reference: `R-${id.slice(-8)}`, payment }
  }
  // The shop, too, treats a rejected promise as an unknown result.
  const send = (draft: PaymentProviderOperation) =>
    provider
      .send(provider.prepare(draft), draft.id)
      .catch((error): ParsedPaymentProviderResponse => ({ kind: 'unknown', error: String(error) }))
  /** Sends a payment and returns it with its id at the provider. */
  async function start(draft = newDraft()): Promise<PaymentForProvider> {
    const { paymentObjectId } = doneOf(await send(draft))
    return { ...draft.payment, objectId: paymentObjectId }
  }
  const operationOn = (
    payment: PaymentForProvider,
    kind: PaymentProviderOperation['kind'],
    amount: number
  ): PaymentProviderOperation => ({ id: newId(), kind, amount, reference: 'R-1', payment })
  const factsOf = async (payment: PaymentForProvider) => doneOf(await provider.fetch(payment)).facts
  /** Starts a payment, and captures it if the provider has not done so itself. */
  async function startAndCapture(): Promise<PaymentForProvider> {
    const payment = await start()
    await pay?.(payment)
    if (sumOf(await factsOf(payment), 'capture', 'succeeded') > 0) return payment
    const { facts } = doneOf(await send(operationOn(payment, 'capture', AMOUNT)))
    assert.equal(sumOf(facts, 'capture', 'succeeded'), AMOUNT)
    return payment
  }

  return [
    {
      name: 'it offers methods in the currency, and says which currencies it does not support',
      run: async () => {
        assert.ok(provider.methods.length > 0)
        assert.equal(new Set(provider.methods).size, provider.methods.length)
        assert.equal(provider.supportsCurrency(currency), true)
        if (unsupportedCurrency !== undefined)
          assert.equal(provider.supportsCurrency(unsupportedCurrency), false)
      }
    },
    {
      name: 'the bytes of a request depend on its operation only',
      run: async () => {
        const draft = newDraft()
        const payment = { ...draft.payment, objectId: 'object_1' }
        for (const kind of ['create', 'capture', 'void', 'refund'] as const) {
          const operation = { ...draft, kind, payment: kind === 'create' ? draft.payment : payment }
          const copy = structuredClone(operation)
          assert.deepEqual(provider.prepare(operation), provider.prepare(copy))
          assert.deepEqual(operation, copy)
        }
      }
    },
    {
      name: 'a payment that is sent twice exists once, with the amount and currency of the request',
      run: async () => {
        const draft = newDraft()
        const [first, second] = [doneOf(await send(draft)), doneOf(await send(draft))]
        assert.equal(second.paymentObjectId, first.paymentObjectId)
        const [whole] = first.facts.filter(({ kind }) => kind === 'intent')
        assert.deepEqual([whole?.amount, whole?.currency], [AMOUNT, currency])
        assert.notEqual((await start()).objectId, first.paymentObjectId)
      }
    },
    {
      name: 'a response without a call is the one that a call returns',
      run: async () => {
        const draft = newDraft()
        if (provider.respondLocally === undefined) return
        const local = provider.respondLocally(draft)
        assert.deepEqual(await send(draft), local)
      }
    },
    {
      name: 'a part is captured when the provider can capture parts, and refused otherwise',
      run: async () => {
        const payment = await start()
        await pay?.(payment)
        // The provider captures each payment itself.
        if (sumOf(await factsOf(payment), 'capture', 'succeeded') > 0) return
        const response = await send(operationOn(payment, 'capture', PART))
        if (!provider.canCapturePart) return assert.equal(response.kind, 'refused')
        assert.equal(sumOf(doneOf(response).facts, 'capture', 'succeeded'), PART)
      }
    },
    {
      name: 'a captured payment is refunded in part, once for each operation',
      run: async () => {
        const payment = await startAndCapture()
        const refund = operationOn(payment, 'refund', PART)
        const [first, second] = [doneOf(await send(refund)), doneOf(await send(refund))]
        assert.ok(first.objectId !== undefined)
        assert.equal(second.objectId, first.objectId)
        assert.equal(sumOf(first.facts, 'refund', 'succeeded', 'pending'), PART)
        const next = doneOf(await send(operationOn(payment, 'refund', PART)))
        assert.notEqual(next.objectId, first.objectId)
      }
    },
    {
      name: 'more than the captured amount is not refunded',
      run: async () => {
        // A provider without a service of its own relies on the shop, which rejects the refund first.
        if (loseNextAnswer === undefined) return
        const payment = await startAndCapture()
        const response = await send(operationOn(payment, 'refund', AMOUNT + 1))
        assert.equal(response.kind, 'refused')
      }
    },
    {
      name: 'an open payment is voided, and a repeated void changes nothing',
      run: async () => {
        const payment = await start()
        const operation = operationOn(payment, 'void', AMOUNT)
        for (const { facts } of [doneOf(await send(operation)), doneOf(await send(operation))])
          assert.ok(facts.some(({ kind, status }) => kind === 'intent' && status === 'canceled'))
      }
    },
    {
      name: 'a payment with a lost answer is unknown, then found, and sent again without a second effect',
      run: async () => {
        if (loseNextAnswer === undefined) return
        const draft = newDraft()
        assert.equal(await provider.find(draft), null)
        assert.equal(await provider.fetch(draft.payment), null)
        await loseNextAnswer()
        assert.equal((await send(draft)).kind, 'unknown')
        const found = doneOf(await provider.find(draft))
        assert.equal(doneOf(await provider.fetch(draft.payment)).paymentObjectId, found.paymentObjectId)
        assert.equal(doneOf(await send(draft)).paymentObjectId, found.paymentObjectId)
      }
    },
    {
      name: 'a refund with a lost answer is unknown, then found',
      run: async () => {
        if (loseNextAnswer === undefined) return
        const refund = operationOn(await startAndCapture(), 'refund', PART)
        assert.equal(await provider.find(refund), null)
        await loseNextAnswer()
        assert.equal((await send(refund)).kind, 'unknown')
        const found = doneOf(await provider.find(refund))
        assert.equal(sumOf(found.facts, 'refund', 'succeeded', 'pending'), PART)
        assert.equal(doneOf(await send(refund)).objectId, found.objectId)
      }
    },
    {
      name: 'a declined payment is refused and moves no money',
      run: async () => {
        if (declineNext === undefined) return
        await declineNext()
        const response = await send(newDraft())
        assert.equal(response.kind, 'refused')
        assert.equal(sumOf(factsIn(response), 'authorization', 'held'), 0)
        assert.equal(sumOf(factsIn(response), 'capture', 'succeeded', 'pending'), 0)
      }
    },
    {
      name: 'a callback is accepted with a fresh signature of its bytes only',
      run: async () => {
        if (callbacks === undefined) return
        assert.ok(callbackOf !== undefined, 'callbackOf is required for a provider with callbacks')
        const now = new Date()
        const payment = await start()
        const { raw, headers } = await callbackOf(payment, now)
        assert.equal(callbacks.verify(raw, headers, now), 'right')
        assert.equal(callbacks.verify(Buffer.concat([raw, Buffer.from(' ')]), headers, now), 'wrong')
        assert.equal(callbacks.verify(raw, {}, now), 'unsigned')
        const later = new Date(now.getTime() + 10 * MINUTES_MS)
        assert.equal(callbacks.verify(raw, headers, later), 'old')
        const event = callbacks.read(raw)
        assert.deepEqual(callbacks.read(raw), event)
        assert.equal(event.kind, 'event')
        assert.equal(event.about?.objectId, payment.objectId)
      }
    },
    {
      name: 'a callback that cannot be read is reported as unreadable',
      run: async () => {
        for (const text of ['', 'garbage', '{}', '[]', 'null', '{"id":1,"type":2,"data":{}}'])
          assert.equal(callbacks?.read(Buffer.from(text)).kind ?? 'unreadable', 'unreadable', text)
      }
    },
    {
      name: 'its list contains a payment since a date',
      run: async () => {
        if (list === undefined) return
        const payment = await start()
        const listed = []
        for await (const event of list.call(provider, new Date(Date.now() - DAY_MS)))
          listed.push('kind' in event ? event.objectId : event.about?.objectId)
        assert.ok(listed.includes(payment.objectId ?? ''))
      }
    }
  ]
}

type Done = Extract<ParsedPaymentProviderResponse, { kind: 'done' }>

function doneOf(response: ParsedPaymentProviderResponse | null): Done {
  assert.ok(response?.kind === 'done', `the response is not done: ${JSON.stringify(response)}`)
  return response
}

const factsIn = (response: ParsedPaymentProviderResponse): readonly PaymentFact[] =>
  response.kind === 'unknown' ? [] : response.facts

const sumOf = (facts: readonly PaymentFact[], kind: PaymentFact['kind'], ...statuses: string[]): number =>
  facts
    .filter(fact => fact.kind === kind && statuses.includes(fact.status))
    .reduce((total, { amount }) => total + amount, 0)
