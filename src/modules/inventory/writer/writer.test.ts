import { expect, test } from 'vitest'
import type { Log } from '../../../platform/log.ts'
import { createMetricRegistry } from '../../../platform/metrics/registry.ts'
import type { DedicatedConnection, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { createStockWriter, type StockWriterDeps } from './writer.ts'

/** A stock writer whose database has a pending request or none, and how often it used its own connection. */
function openWriter(isPending: boolean) {
  let attempts = 0
  const first = (async () => ({ is_pending: isPending })) as Queryable['first']
  // Another process holds the lock of requests.
  const tx = { first: async () => ({ is_mine: false }) } as unknown as Transaction
  const attempt: DedicatedConnection['attempt'] = async work => {
    attempts += 1
    return { kind: 'done', value: await work(tx) }
  }
  const dedicated = () => ({ attempt, close: async () => {} })
  const writer = createStockWriter({
    db: { first, dedicated } as StockWriterDeps['db'],
    kits: {} as StockWriterDeps['kits'],
    publisher: {} as StockWriterDeps['publisher'],
    log: {} as Log,
    metrics: createMetricRegistry(),
    queueMax: 1
  })
  return { writer, attempts: () => attempts }
}

test('a stock writer without requests does not open its connection, neither at the start nor at the stop', async () => {
  const { writer, attempts } = openWriter(false)
  await writer.stop()
  expect(attempts()).toBe(0)
})

test('a stock writer opens its connection for requests that were pending before it started', async () => {
  const { writer, attempts } = openWriter(true)
  await expect.poll(attempts).toBeGreaterThan(0)
  await writer.stop()
})
