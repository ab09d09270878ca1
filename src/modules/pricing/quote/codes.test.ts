import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizeCode, readCodes } from './codes.ts'

test.each([
  ['  save10 ', 'SAVE10'],
  ['ｓａｖｅ１０', 'SAVE10'],
  ['\u00a0straße\u00a0', 'STRASSE'],
  ['ﬁnal', 'FINAL']
])('the code "%s" is compared as %s', (code, normal) => {
  expect(normalizeCode(code)).toBe(normal)
})

test('a code that is compared as itself is', () => {
  const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map(point => String.fromCodePoint(point))
  fc.assert(
    fc.property(fc.array(anyCharacter, { maxLength: 8 }), characters => {
      const code = characters.join('')
      expect(normalizeCode(normalizeCode(code))).toBe(normalizeCode(code))
    })
  )
})

test('a code that is given twice counts once, in whatever order and writing', () => {
  const rules = {
    codes: new Map([['SAVE10', { promotionId: 'p', usesLeft: null }]]),
    promotions: [],
    taxZones: new Map(),
    ratesOf: () => []
  }
  const read = [
    { code: 'OTHER', problem: { code: 'CODE_UNKNOWN' } },
    { code: 'SAVE10', promotionId: 'p' }
  ]
  expect(readCodes(['save10', 'other', ' SAVE10'], rules)).toEqual(read)
  expect(readCodes([' SAVE10', 'save10', 'other'], rules)).toEqual(read)
})
