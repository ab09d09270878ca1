import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { computeQuote } from '../../src/modules/pricing/quote/quote.ts'
import { inputOf, resultOf, rowsOf } from './examples.ts'

const page = await readFile(new URL('../../docs/price-examples.md', import.meta.url), 'utf8')
const markets = rowsOf(page, 'Market')
const examples = rowsOf(page, 'What it shows')

test('the page of worked quotes has at least 60 examples, and each shows something different', () => {
  expect(examples.length).toBeGreaterThanOrEqual(60)
  expect(new Set(examples.map(row => row['What it shows'])).size).toBe(examples.length)
})

test.each(examples)(
  'a worked quote has the stated result: $Market, $Basket, $Promotions: $What it shows',
  row => {
    const { Lines, Discount, Shipping, Tax, Total, Told } = row
    const worked = { Lines, Discount, Shipping, Tax, Total, Told }
    expect(resultOf(computeQuote(inputOf(row, markets)))).toEqual(worked)
  }
)
