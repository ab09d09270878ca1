import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHECK_NAMES, type Check, faultOf, keyOf } from './numbers.ts'

const MASKS: Record<Check, string> = {
  ups: '1Z****************',
  gs1: '####################',
  fedex: '############',
  mod7: '##########',
  s10: '@@#########@@'
}

// Numbers of the open list of tracking numbers that carriers use, https://github.com/jkeen/tracking_number_data, and of UPU S10.
test.each<[Check, string, string]>([
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
])('%s: %s has the right check digit, and %s a wrong one', (check, right, wrong) => {
  const rules = [{ mask: MASKS[check], check }]
  expect(faultOf(right, rules)).toBeUndefined()
  expect(faultOf(wrong, rules)).toBe('check_digit')
})

test('of numbers that differ in their check digit one is right', () => {
  const prefix = fc.stringMatching(/^[0-9]{19}$/)
  const right = (check: Check, numbers: string[]) =>
    numbers.filter(number => faultOf(number, [{ mask: MASKS[check], check }]) === undefined).length
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
  expect(CHECK_NAMES).toHaveLength(5)
})

test('a number is like one of the masks of its carrier, or anything where there are none', () => {
  const rules = [
    { mask: 'AB##', check: null },
    { mask: '3S*~', check: null }
  ]
  for (const number of ['ab 12', 'AB-12', '3SX', '3s-12 34']) expect(faultOf(number, rules)).toBeUndefined()
  for (const number of ['AB1', 'AB123', '3S', '3S+', 'XAB12']) expect(faultOf(number, rules)).toBe('form')
  expect(faultOf('whatever', [])).toBeUndefined()
  // Where one form fits that has no check digit, there is none to be wrong.
  expect(
    faultOf('3318810010', [
      { mask: '##########', check: 'mod7' },
      { mask: '#########~', check: null }
    ])
  ).toBe(undefined)
})

test('what makes no difference in a number makes none', () => {
  expect(keyOf(' 1z-5r8 939\t0.3 ')).toBe('1Z5R89390 3'.replace(' ', ''))
})
