import { expect, test } from 'vitest'
import type { Transaction } from './database.ts'
import { createTransactionValue } from './transaction-value.ts'

test('each transaction has a value of its own, which is created on first use', () => {
  const [one, other] = [{} as Transaction, {} as Transaction]
  const created: Transaction[] = []
  const first = createTransactionValue(tx => created.push(tx))
  const second = createTransactionValue<string | undefined>(() => undefined)
  expect([first(one), first(other), first(one)]).toEqual([1, 2, 1])
  expect([second(one), first(one)]).toEqual([undefined, 1])
  expect(created).toEqual([one, other])
})
