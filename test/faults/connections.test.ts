import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { databaseConnectionsMax } from '../../src/platform/platform.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { createHttpClient } from '../support/http-client.ts'
import { startProgram } from '../support/program.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'

const CLIENTS = 60
const ROUNDS = 8
const WORDS = ['lamp', 'wool', 'bowl', 'oak', 'linen']

test('a shop under load opens no more connections than it says', { timeout: 120_000 }, async () => {
  const created = await createTestDatabase()
  const port = String(await freePort())
  const settings = { CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: port, CARTWRIGHT__RATE_LIMIT__ENABLED: 'false' }
  const program = startProgram({ DATABASE_URL: created.url, CARTWRIGHT__SHOP__DEMO: 'on', ...settings })
  const counter = new pg.Client({ connectionString: created.url })
  await counter.connect()
  onTestFinished(async () => {
    program.child.kill('SIGKILL')
    await program.ended
    await counter.end()
    await created.drop()
  })
  const client = createHttpClient(await program.listening, CLIENTS)
  onTestFinished(client.close)
  const { items } = (await client.send('GET', '/api/products?in_stock=true'))?.json ?? {}
  const { variants } = (await client.send('GET', `/api/products/${items[0].id}`))?.json ?? {}
  const line = { variant_id: variants[0].id, quantity: 1 }
  const buyer = { email: 'ada@example.com', shipping_address: { country: 'SE' } }

  let isOver = false
  let most = 0
  const counting = async () => {
    while (!isOver) {
      const { rows } = await counter.query(
        `select count(*)::int as open from pg_stat_activity where datname = current_database() and application_name = 'cartwright'`
      )
      most = Math.max(most, rows[0].open)
      await delay(5)
    }
  }
  const counted = counting()
  const load = Array.from({ length: CLIENTS }, async (_, caller) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const word = WORDS[(caller + round) % WORDS.length]
      await client.send('POST', '/api/guest-cart', { body: line })
      await client.send('GET', `/api/products?q=${word}&limit=${1 + (caller % 50)}`)
      await client.send('POST', '/api/checkouts/guest', { body: { ...buyer, items: [line] } })
      await client.send('GET', '/readyz')
      await fetch(`http://127.0.0.1:${port}/readyz`)
    }
  })
  await Promise.all(load)
  isOver = true
  await counted
  const max = databaseConnectionsMax(loadConfig([], { ...SECRET_SETTINGS, ...settings }))
  const { db_pool: pool } = (await client.send('GET', '/metricsz'))?.json ?? {}
  expect([max, pool.max_conns]).toEqual([29, 27])
  expect(most).toBeGreaterThan(15)
  expect(most).toBeLessThanOrEqual(max)
  console.log(`${most} of ${max} connections`)
})
