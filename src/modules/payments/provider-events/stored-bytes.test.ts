import { expect, test } from 'vitest'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { openProviderEvent, sealProviderEvent } from './stored-bytes.ts'

test('the bytes of a payment event are stored compressed, and read as they were, also those of an earlier program', () => {
  const secrets = testSecrets()
  const raw = Buffer.from(JSON.stringify({ words: Array.from({ length: 200 }, () => 'payment_intent') }))
  const sealed = sealProviderEvent(secrets, raw)
  expect(sealed.length).toBeLessThan(raw.length / 4)
  for (const stored of [sealed, secrets.seal('payments.event', raw)])
    expect(openProviderEvent(secrets, stored)).toEqual(raw)
  expect(openProviderEvent(secrets, secrets.seal('payments.request', raw))).toBeUndefined()
})
