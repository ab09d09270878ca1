import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  AMOUNT_MAX,
  amountBeforeRatePpm,
  currencyDecimalPlaces,
  formatAmount,
  multiplyByRatePpm,
  multiplyFractionWithRemainder,
  parseAmount
} from './money.ts'

const anyCurrency = fc.constantFrom(...Object.keys(currencyDecimalPlaces))
const anyAmount = fc.integer({ min: 0, max: AMOUNT_MAX })
const anyPpm = fc.integer({ min: 0, max: 1_000_000 })

test('parseAmount reads every formatted money amount of every currency', () => {
  fc.assert(
    fc.property(anyAmount, anyCurrency, (amount, currency) => {
      expect(parseAmount(formatAmount(amount, currency), currency)).toBe(amount)
    })
  )
})

test('a money amount is formatted with the decimals of its currency', () => {
  const written = [5, 1_850].flatMap(amount =>
    ['USD', 'JPY', 'KWD'].map(currency => formatAmount(amount, currency))
  )
  expect(written).toEqual(['0.05', '5', '0.005', '18.50', '1850', '1.850'])
})

test('trailing zeros and surrounding spaces do not change a money amount', () => {
  fc.assert(
    fc.property(
      anyAmount,
      fc.constantFrom('USD', 'KWD'),
      fc.integer({ min: 0, max: 3 }),
      (amount, currency, zeros) => {
        const decimal = ` ${formatAmount(amount, currency)}${'0'.repeat(zeros)}\t`
        expect(parseAmount(decimal, currency)).toBe(amount)
      }
    )
  )
})

test.each([
  ['19.99', 'USD', 1_999],
  ['500', 'JPY', 500],
  ['500', 'USD', 50_000],
  ['1.234', 'KWD', 1_234],
  ['0', 'USD', 0],
  ['00.10', 'USD', 10],
  ['5.00', 'JPY', 5],
  ['1000000000.00', 'USD', AMOUNT_MAX]
])('the amount %s in %s is %d minor units', (decimal, currency, amount) => {
  expect(parseAmount(decimal, currency)).toBe(amount)
})

test.each([
  '',
  ' ',
  '-1',
  '+1',
  '1e3',
  '1,000',
  '1.',
  '.5',
  '1.2.3',
  '0x10',
  'NaN',
  '١٢',
  '1 0',
  '1\n2',
  '$1'
])('the text "%s" is not a money amount', decimal => {
  expect(parseAmount(decimal, 'USD')).toBeUndefined()
})

test('a money amount with more decimals than its currency has is rejected, not rounded', () => {
  expect(parseAmount('1.005', 'USD')).toBeUndefined()
  expect(parseAmount('1.5', 'JPY')).toBeUndefined()
})

test('money amounts above the maximum and unknown currencies are rejected', () => {
  expect(parseAmount('1000000000.01', 'USD')).toBeUndefined()
  expect(parseAmount('999999999999999', 'USD')).toBeUndefined()
  for (const currency of ['XXX', 'usd', '', 'toString', '__proto__', 'constructor']) {
    expect(parseAmount('1', currency)).toBeUndefined()
  }
})

test('any text is parsed as a valid money amount or undefined', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.]{0,30}$/)), anyCurrency, (text, currency) => {
      const amount = parseAmount(text, currency)
      if (amount === undefined) return
      expect(Number.isSafeInteger(amount) && amount >= 0 && amount <= AMOUNT_MAX).toBe(true)
    })
  )
})

test('a share of an amount is the exact product, rounded half up', () => {
  fc.assert(
    fc.property(anyAmount, anyPpm, (amount, ppm) => {
      const exact = BigInt(amount) * BigInt(ppm)
      const twiceTheError = 2n * (BigInt(multiplyByRatePpm(amount, ppm)) * 1_000_000n - exact)
      expect(twiceTheError > -1_000_000n && twiceTheError <= 1_000_000n).toBe(true)
    })
  )
})

test.each([
  [1, 500_000, 1],
  [3, 500_000, 2],
  [1, 499_999, 0],
  [1_999, 190_000, 380],
  [0, 1_000_000, 0],
  [AMOUNT_MAX, 999_999, 99_999_900_000]
])('of the amount %d, a share of %d parts per million is %d', (amount, ppm, share) => {
  expect(multiplyByRatePpm(amount, ppm)).toBe(share)
})

test('a share of an amount never falls when the amount or the rate rises, and lies between 0 and the amount', () => {
  fc.assert(
    fc.property(anyAmount, anyAmount, anyPpm, anyPpm, (a, b, p, q) => {
      const [small, large] = [Math.min(a, b), Math.max(a, b)]
      const [low, high] = [Math.min(p, q), Math.max(p, q)]
      expect(multiplyByRatePpm(small, low)).toBeLessThanOrEqual(multiplyByRatePpm(large, low))
      expect(multiplyByRatePpm(large, low)).toBeLessThanOrEqual(multiplyByRatePpm(large, high))
      expect(multiplyByRatePpm(large, high)).toBeLessThanOrEqual(large)
      expect(multiplyByRatePpm(small, 0)).toBe(0)
      expect(multiplyByRatePpm(small, 1_000_000)).toBe(small)
    })
  )
})

test('a share of an amount and its complement add up to the amount, or to one more when both round up', () => {
  fc.assert(
    fc.property(anyAmount, anyPpm, (amount, ppm) => {
      const sum = multiplyByRatePpm(amount, ppm) + multiplyByRatePpm(amount, 1_000_000 - ppm)
      expect(sum - amount === 0 || sum - amount === 1).toBe(true)
    })
  )
})

test('the division of an amount by parts per million is exact, however large the product', () => {
  const anyFactor = fc.integer({ min: 0, max: 2_000_000_000_000_000 })
  fc.assert(
    fc.property(anyFactor, anyFactor, anyFactor, (amount, numerator, more) => {
      const denominator = more + 1
      const { whole, rest } = multiplyFractionWithRemainder(amount, numerator, denominator)
      fc.pre(Number.isSafeInteger(whole))
      expect(BigInt(whole) * BigInt(denominator) + BigInt(rest)).toBe(BigInt(amount) * BigInt(numerator))
      expect(rest).toBeLessThan(denominator)
    })
  )
})

test('amountBeforeRatePpm computes exactly the amount before a percentage was added, rounded half up', () => {
  fc.assert(
    fc.property(anyAmount, anyPpm, (gross, ppm) => {
      const twiceTheError =
        2n * (BigInt(amountBeforeRatePpm(gross, ppm)) * BigInt(1_000_000 + ppm) - BigInt(gross) * 1_000_000n)
      const half = BigInt(1_000_000 + ppm)
      expect(twiceTheError > -half && twiceTheError <= half).toBe(true)
    })
  )
})

test('every currency has three capital letters and an exponent, and the list is frozen', () => {
  for (const [code, places] of Object.entries(currencyDecimalPlaces)) {
    expect(code).toMatch(/^[A-Z]{3}$/)
    expect([0, 2, 3]).toContain(places)
  }
  expect(Object.keys(currencyDecimalPlaces).length).toBeGreaterThan(150)
  expect(currencyDecimalPlaces).toMatchObject({
    USD: 2,
    EUR: 2,
    JPY: 0,
    KRW: 0,
    KWD: 3,
    ISK: 0,
    HUF: 2,
    MGA: 2
  })
  expect(Object.isFrozen(currencyDecimalPlaces)).toBe(true)
})
