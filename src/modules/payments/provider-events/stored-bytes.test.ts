import { hash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { newSandboxCharge, newSandboxEvent, newSandboxIntent } from '../../../payment-sandbox/objects.ts'
import { EVENT_DICTIONARY } from './event-dictionary.ts'
import { openProviderEvent, sealProviderEvent } from './stored-bytes.ts'

const wanted = {
  amount: 1_990,
  currency: 'eur',
  capture_method: 'automatic',
  metadata: { order_id: 'x' }
} as const
const intent = newSandboxIntent(1_764_000_000, wanted)
const paid = { ...intent, latest_charge: newSandboxCharge(1_764_000_000, intent) }
const event = newSandboxEvent(1_764_000_000, 'payment_intent.succeeded', paid)

test.each([undefined, 2])(
  'the bytes of an event with indentation %s are stored in less than a third, and read as they were',
  indentation => {
    const secrets = testSecrets()
    const raw = Buffer.from(JSON.stringify(event, null, indentation))
    const sealed = sealProviderEvent(secrets, raw)
    expect(sealed.length).toBeLessThan(raw.length / 3)
    expect(openProviderEvent(secrets, sealed)).toEqual(raw)
  }
)

test('the bytes of events that earlier programs stored are read', () => {
  const secrets = testSecrets()
  const raw = Buffer.from(JSON.stringify(event))
  for (const stored of [
    secrets.seal('payments.deflated_event', deflateRawSync(raw)),
    secrets.seal('payments.event', raw)
  ])
    expect(openProviderEvent(secrets, stored)).toEqual(raw)
  expect(openProviderEvent(secrets, secrets.seal('payments.request', raw))).toBeUndefined()
})

test('the dictionary of stored events is the same as ever', () => {
  expect(hash('sha256', EVENT_DICTIONARY)).toBe(
    'c88b214098f39faf8bea8703a0cf38124c687e99ba79d29652eaaa16faa3bc8c'
  )
})
