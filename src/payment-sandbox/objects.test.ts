import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  isStripeEvent,
  isStripePaymentIntent,
  isStripeRefund,
  readStripeEvent
} from '../modules/payments/providers/stripe-objects.ts'
import {
  newSandboxCharge,
  newSandboxDispute,
  newSandboxEvent,
  newSandboxIntent,
  newSandboxRefund
} from './objects.ts'

/** Objects that Stripe publishes (github.com/stripe/openapi, fixtures3, MIT licence). */
const fixtures: Record<string, Record<string, unknown>> = JSON.parse(
  readFileSync(new URL('./fixtures/stripe.json', import.meta.url), 'utf8')
)
const intent = newSandboxIntent(1, { amount: 1_099, currency: 'usd', capture_method: 'manual', metadata: {} })
const charge = newSandboxCharge(1, intent)

const kindOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value)

test.each([
  ['payment_intent', intent],
  ['charge', charge],
  ['refund', newSandboxRefund(1, charge, 1, {})],
  ['dispute', newSandboxDispute(1, charge, 1)],
  ['event', newSandboxEvent(1, 'charge.dispute.created', charge)]
])("a %s of the payment sandbox has only fields of Stripe's object, with the same types", (name, ours) => {
  const theirs = fixtures[name] as Record<string, unknown>
  expect(Object.keys(ours).filter(key => !(key in theirs))).toEqual([])
  const others = Object.entries(ours).filter(
    ([key, value]) => value !== null && theirs[key] !== null && kindOf(value) !== kindOf(theirs[key])
  )
  expect(others).toEqual([])
})

test('the payment sandbox can read the objects that Stripe publishes', () => {
  const { payment_intent, charge, refund, dispute, event } = fixtures
  expect([isStripePaymentIntent(payment_intent), isStripeRefund(refund), isStripeEvent(event)]).toEqual([
    true,
    true,
    true
  ])
  const about = { payment_intent: 'pi_1' }
  const factsOf = (object: object) => {
    const read = readStripeEvent({ id: 'evt_1', type: 'any', data: { object } })
    return read.kind === 'event' ? read.facts.map(({ kind, status }) => [kind, status]) : read.error
  }
  expect(factsOf({ ...payment_intent })).toEqual([['intent', 'pending']])
  expect(factsOf({ ...charge, ...about })).toEqual([['authorization', 'held']])
  expect(factsOf({ ...refund, ...about })).toEqual([['refund', 'succeeded']])
  expect(factsOf({ ...dispute, ...about })).toEqual([['dispute', 'open']])
})
