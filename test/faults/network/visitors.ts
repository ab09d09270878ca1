import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../../src/kernel/ids.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { insist, type Load } from '../kill-load.ts'
import type { Traffic } from './traffic.ts'

const PROBE_EVERY_MS = 100
const PROBES_AT_ONCE_MAX = 200
const WORDS = ['lamp', 'wool', 'bowl', 'oak', 'linen', 'red', 'tea', 'glass']

/**
 * Asks each process for one thing of each kind every 100 ms, whether or not earlier answers have come: so new visitors
 * arrive, and a recovered shop is noticed immediately. Stops with the load.
 */
export async function probe({ at }: Traffic, load: Load, variantId: string): Promise<void> {
  const waiting: Promise<unknown>[] = []
  let underWay = 0
  const ask = async (http: HttpClient, ...request: Parameters<HttpClient['send']>) => {
    if (underWay >= PROBES_AT_ONCE_MAX * at.length) return
    underWay += 1
    await http.send(...request)
    underWay -= 1
  }
  while (!load.stopping) {
    for (const http of at) {
      const guest = { body: { variant_id: variantId, quantity: 1 }, headers: { 'idempotency-key': newId() } }
      waiting.push(
        ask(http, 'GET', '/healthz'),
        ask(http, 'GET', '/api/products?limit=5'),
        ask(http, 'GET', '/api/cart', { token: load.shared.token }),
        ask(http, 'POST', '/api/guest-cart', guest)
      )
    }
    await delay(PROBE_EVERY_MS)
  }
  await Promise.all(waiting)
}

/** A visitor who browses. */
export async function browse(load: Load): Promise<void> {
  for (let turn = 0; !load.stopping; turn += 1) {
    const word = WORDS[turn % WORDS.length]
    const list = await load.http.send('GET', `/api/products?q=${word}&limit=${1 + (turn % 50)}`)
    const id = list?.json?.items?.[0]?.id
    if (id !== undefined) await load.http.send('GET', `/api/products/${id}`)
    await load.http.send('GET', '/api/categories')
    await delay(load.pauseMs)
  }
}

/** Visitors that register, each until there is a response, and then read their account. */
export async function register(load: Load, label: string): Promise<void> {
  for (let person = 0; !load.stopping; person += 1) {
    const token = await open(load, `new-${person}-${label}@example.com`)
    if (token !== undefined) await load.http.send('GET', '/api/auth/me', { token: token.access })
    await delay(load.pauseMs)
  }
}

/** A customer whose tokens are refreshed continuously. The session must survive every repeated refresh. */
export async function refresh(load: Load, label: string): Promise<void> {
  for (let session = 0; !load.stopping; session += 1) {
    let token = (await open(load, `refreshing-${session}-${label}@example.com`))?.refresh
    while (token !== undefined && !load.stopping) {
      const request = { method: 'POST', path: '/api/auth/refresh', key: newId() }
      const answer = await insist(load, { ...request, body: { refresh_token: token } }).catch(() => undefined)
      token = answer?.json.refresh_token
      await delay(load.pauseMs)
    }
  }
}

/** A new account; `undefined` when it is refused, which the traffic has noted. */
async function open(load: Load, email: string): Promise<{ access: string; refresh: string } | undefined> {
  const body = { email, password: 'an uncommon sentence' }
  const request = { method: 'POST', path: '/api/auth/register', key: newId(), body }
  const answer = await insist(load, request).catch(() => undefined)
  return answer && { access: answer.json.access_token, refresh: answer.json.refresh_token }
}
