import { expect, test } from 'vitest'
import { bytesOfBase32 } from '../../../../test/support/second-factor.ts'
import { encodeBase32 } from '../../../kernel/base32.ts'
import { findTotpStepOfCode, totpCodeOfTimeStep, totpProvisioningUri, totpStepAt } from './totp.ts'

const SECRET = Buffer.from('12345678901234567890')

// The last six digits of the vectors for SHA-1, which have eight (RFC 6238, appendix B).
test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130']
])('the TOTP code at %i seconds is %s', (seconds, code) => {
  expect(totpCodeOfTimeStep(SECRET, totpStepAt(seconds * 1_000))).toBe(code)
})

test('a TOTP code is accepted one time step before and after its own, but not two', () => {
  const now = 1_234_567_890_000
  const at = (steps: number) =>
    findTotpStepOfCode(SECRET, totpCodeOfTimeStep(SECRET, totpStepAt(now) + steps), now)
  expect([at(-1), at(0), at(1)]).toEqual([totpStepAt(now) - 1, totpStepAt(now), totpStepAt(now) + 1])
  expect([at(-3), at(-2), at(2), at(3)]).toEqual([undefined, undefined, undefined, undefined])
})

test('text that is not a code of six digits matches no TOTP time step', () => {
  const now = 1_234_567_890_000
  for (const text of ['', '5924', '0005924', '００５９２４', 'abcdef'])
    expect(findTotpStepOfCode(SECRET, text, now), text).toBeUndefined()
})

// RFC 4648, section 10, without padding.
test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI']
])('the bytes of %j are %j in base32', (text, encoded) => {
  expect(encodeBase32(Buffer.from(text))).toBe(encoded)
  expect(bytesOfBase32(encoded).toString()).toBe(text)
})

test('the otpauth URI contains the shop, account and algorithm', () => {
  const uri = new URL(totpProvisioningUri(SECRET, { issuer: 'Tea & Co: Berlin', account: 'ada@example.com' }))
  expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp'])
  expect(decodeURIComponent(uri.pathname)).toBe('/Tea & Co: Berlin:ada@example.com')
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    issuer: 'Tea & Co: Berlin',
    algorithm: 'SHA1',
    digits: '6',
    period: '30'
  })
})
