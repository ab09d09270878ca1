import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizePromotionCode, resolvePromotionCodes } from './codes.ts'

test.each([
  ['  save10 ', 'SAVE10'],
  ['ｓａｖｅ１０', 'SAVE10'],
  ['\u00a0straße\u00a0', 'STRASSE'],
  ['ﬁnal', 'FINAL']
])('the promotion code "%s" is compared as %s', (code, normal) => {
  expect(normalizePromotionCode(code)).toBe(normal)
})

test('normalizing a normalized promotion code does not change it', () => {
  const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map(point => String.fromCodePoint(point))
  fc.assert(
    fc.property(fc.array(anyCharacter, { maxLength: 8 }), characters => {
      const code = characters.join('')
      expect(normalizePromotionCode(normalizePromotionCode(code))).toBe(normalizePromotionCode(code))
    })
  )
})

test('a repeated promotion code counts once, in any order and spelling', () => {
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
  expect(resolvePromotionCodes(['save10', 'other', ' SAVE10'], rules)).toEqual(read)
  expect(resolvePromotionCodes([' SAVE10', 'save10', 'other'], rules)).toEqual(read)
})
