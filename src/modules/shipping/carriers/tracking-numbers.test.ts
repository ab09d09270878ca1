import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  findTrackingNumberFault,
  normalizeTrackingNumber,
  TRACKING_NUMBER_CHECK_METHODS,
  type TrackingNumberCheckMethod
} from './tracking-numbers.ts'

const MASKS: Record<TrackingNumberCheckMethod, string> = {
  ups: '1Z****************',
  gs1: '####################',
  fedex: '############',
  mod7: '##########',
  s10: '@@#########@@'
}

// Numbers of the open list of tracking numbers that carriers use, https://github.com/jkeen/tracking_number_data, and of UPU S10.
test.each<[TrackingNumberCheckMethod, string, string]>([
  ['ups', '1Z5R89390357567127', '1Z5R89390357567128'],
  ['ups', '1Z 879 E93 03 4683 4440', '1Z8V92A70367203025'],
  ['gs1', '00340434292135100186', '00340434292135100187'],
  ['gs1', '7112 3456 7891 2345 6787', '71123456789123456788'],
  ['fedex', '986578788855', '986578788885'],
  ['fedex', '477179081230', '477179081231'],
  ['mod7', '3318810025', '3318810010'],
  ['mod7', '8487135506', '3318810034'],
  ['s10', 'RB 123 456 785 GB', 'RB123456786GB'],
  ['s10', 'rr473124829de', 'RR473124828DE']
])(
  'by the carrier check %s, the tracking number %s has the right check digit, and %s a wrong one',
  (check, right, wrong) => {
    const rules = [{ mask: MASKS[check], check }]
    expect(findTrackingNumberFault(right, rules)).toBeUndefined()
    expect(findTrackingNumberFault(wrong, rules)).toBe('check_digit')
  }
)

test('of all check digits of a tracking number, exactly one is valid', () => {
  const prefix = fc.stringMatching(/^[0-9]{19}$/)
  const right = (check: TrackingNumberCheckMethod, numbers: string[]) =>
    numbers.filter(number => findTrackingNumberFault(number, [{ mask: MASKS[check], check }]) === undefined)
      .length
  const ends = [...'0123456789']
  fc.assert(
    fc.property(prefix, digits => {
      expect(
        right(
          'ups',
          ends.map(end => `1Z${digits.slice(0, 15)}${end}`)
        )
      ).toBe(1)
      expect(
        right(
          'gs1',
          ends.map(end => `${digits}${end}`)
        )
      ).toBe(1)
      expect(
        right(
          'fedex',
          ends.map(end => `${digits.slice(0, 11)}${end}`)
        )
      ).toBe(1)
      expect(
        right(
          'mod7',
          ends.map(end => `${digits.slice(0, 9)}${end}`)
        )
      ).toBe(1)
      expect(
        right(
          's10',
          ends.map(end => `RR${digits.slice(0, 8)}${end}SE`)
        )
      ).toBe(1)
    })
  )
  expect(TRACKING_NUMBER_CHECK_METHODS).toHaveLength(5)
})

test("a tracking number must match one of the carrier's masks, if the carrier has any", () => {
  const rules = [
    { mask: 'AB##', check: null },
    { mask: '3S*~', check: null }
  ]
  for (const number of ['ab 12', 'AB-12', '3SX', '3s-12 34'])
    expect(findTrackingNumberFault(number, rules)).toBeUndefined()
  for (const number of ['AB1', 'AB123', '3S', '3S+', 'XAB12'])
    expect(findTrackingNumberFault(number, rules)).toBe('form')
  expect(findTrackingNumberFault('whatever', [])).toBeUndefined()
  // One matching mask without a check digit is enough.
  expect(
    findTrackingNumberFault('3318810010', [
      { mask: '##########', check: 'mod7' },
      { mask: '#########~', check: null }
    ])
  ).toBe(undefined)
})

test('spaces, hyphens and letter case do not change a tracking number', () => {
  expect(normalizeTrackingNumber(' 1z-5r8 939\t0.3 ')).toBe('1Z5R89390 3'.replace(' ', ''))
})
