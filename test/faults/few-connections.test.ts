import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createHttpClient } from '../support/http-client.ts'
import { startProgram } from '../support/program.ts'
import { useLimitedDatabase } from './connection-limit.ts'
import { until } from './until.ts'

const CLIENTS = 4
const ROUNDS = 12
/** The shortest time that a request may wait for a connection, in milliseconds. */
const WAIT_MS_MIN = 900
const WORDS = ['lamp', 'wool', 'bowl', 'oak', 'linen']

/** Starts the program on a database with this connection limit. */
async function useProgram(connections: number) {
  const database = await useLimitedDatabase(connections)
  const program = startProgram({
    DATABASE_URL: database.url,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    // Long deadlines, because connections move slowly between pools.
    CARTWRIGHT__DATABASE__POOL_WAIT_MS: '60000',
    CARTWRIGHT__SHOP__DEMO: 'on'
  })
  onTestFinished(async () => {
    program.child.kill('SIGKILL')
    await program.ended
  })
  const address = await program.listening
  await until('the shop is open', () => program.output.stdout.includes('Try it:'))
  const client = createHttpClient(address, CLIENTS)
  onTestFinished(client.close)
  return { ...database, client, program }
}

test('with 8 connections the shop serves searches, carts and log-ins, and /readyz reports its state', {
  timeout: 600_000
}, async () => {
  const { client, setLimit, endAll, refused, program } = await useProgram(8)
  const answers = new Map<string, number>()
  /** Retries until it succeeds: a slow machine may reject a request, but not for lack of a connection. */
  const ask = async (method: string, path: string, bodyOf: () => object | undefined = () => undefined) => {
    for (;;) {
      const body = bodyOf()
      const startedAt = performance.now()
      const answer = await client.send(method, path, body === undefined ? {} : { body })
      const code: string = (answer?.status === 503 && answer.json?.code) || ''
      const isEarly = code.startsWith('DATABASE_') && performance.now() - startedAt < WAIT_MS_MIN
      const key =
        `${method} ${path.split('?')[0]} ${answer?.status} ${code}${isEarly ? ', early' : ''}`.trim()
      answers.set(key, (answers.get(key) ?? 0) + 1)
      if (code === '' || isEarly) return answer?.json
    }
  }
  const { items } = await ask('GET', '/api/products?in_stock=true')
  const { variants } = await ask('GET', `/api/products/${items[0].id}`)
  answers.clear()
  const cartLine = { variant_id: variants[0].id, quantity: 1 }
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, caller) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await ask('GET', `/api/products?q=${WORDS[round % WORDS.length]}&limit=${1 + caller}`)
        await ask('POST', '/api/guest-cart', () => cartLine)
        // One at a time, because password checks need processors and not connections.
        if (caller === 0 && round % 6 === 0)
          await ask('POST', '/api/auth/register', () => ({
            email: `${randomUUID()}@example.com`,
            password: 'correct horse battery staple'
          }))
      }
    })
  )
  console.log(Object.fromEntries(answers), 'refused connections:', refused())
  const isRefusedLate = (answer: string) => answer.includes(' 503 ') && !answer.endsWith(', early')
  expect([...answers.keys()].filter(answer => !isRefusedLate(answer)).sort()).toEqual([
    'GET /api/products 200',
    'POST /api/auth/register 201',
    'POST /api/guest-cart 201'
  ])
  expect(refused()).toBeGreaterThan(0)
  const readiness = async () => (await client.send('GET', '/readyz'))?.status
  expect(await readiness()).toBe(200)

  setLimit(0)
  endAll()
  await until('the shop is not ready', async () => (await readiness()) === 503)
  expect((await client.send('POST', '/api/guest-cart', { body: cartLine }))?.status).toBe(503)
  setLimit(8)
  await until('the shop is ready', async () => (await readiness()) === 200)
  await until(
    'a guest can fill a cart',
    async () => (await client.send('POST', '/api/guest-cart', { body: cartLine }))?.status === 201
  )
  expect(program.child.exitCode).toBe(null)
})
