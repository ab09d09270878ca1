import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../../src/kernel/ids.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { type Load, writeUntilAcknowledged } from '../kill-load.ts'
import type { Traffic } from './traffic.ts'

const PROBE_EVERY_MS = 100
const PROBES_AT_ONCE_MAX = 200
const WORDS = ['lamp', 'wool', 'bowl', 'oak', 'linen', 'red', 'tea', 'glass']

/**
 * Sends one request of each kind to each process every 100 ms, without waiting for earlier responses, so that a
 * recovery is detected immediately. Stops with the load.
 */
export async function probeProcesses({ at }: Traffic, load: Load, variantId: string): Promise<void> {
  const waiting: Promise<unknown>[] = []
  let openRequests = 0
  const sendWithinLimit = async (http: HttpClient, ...request: Parameters<HttpClient['send']>) => {
    if (openRequests >= PROBES_AT_ONCE_MAX * at.length) return
    openRequests += 1
    await http.send(...request)
    openRequests -= 1
  }
  while (!load.isStopping) {
    for (const http of at) {
      const guest = { body: { variant_id: variantId, quantity: 1 }, headers: { 'idempotency-key': newId() } }
      waiting.push(
        sendWithinLimit(http, 'GET', '/healthz'),
        sendWithinLimit(http, 'GET', '/api/products?limit=5'),
        sendWithinLimit(http, 'GET', '/api/cart', { token: load.shared.token }),
        sendWithinLimit(http, 'POST', '/api/guest-cart', guest)
      )
    }
    await delay(PROBE_EVERY_MS)
  }
  await Promise.all(waiting)
}

/** A visitor who browses. */
export async function browseCatalog(load: Load): Promise<void> {
  for (let turn = 0; !load.isStopping; turn += 1) {
    const word = WORDS[turn % WORDS.length]
    const list = await load.http.send('GET', `/api/products?q=${word}&limit=${1 + (turn % 50)}`)
    const id = list?.json?.items?.[0]?.id
    if (id !== undefined) await load.http.send('GET', `/api/products/${id}`)
    await load.http.send('GET', '/api/categories')
    await delay(load.pauseMs)
  }
}

/** Visitors that register, each until there is a response, and then read their account. */
export async function registerVisitors(load: Load, label: string): Promise<void> {
  for (let person = 0; !load.isStopping; person += 1) {
    const token = await registerAccount(load, `new-${person}-${label}@example.com`)
    if (token !== undefined) await load.http.send('GET', '/api/auth/me', { token: token.access })
    await delay(load.pauseMs)
  }
}

/** A customer whose tokens are refreshed continuously. The session must survive every repeated refresh. */
export async function refreshTokens(load: Load, label: string): Promise<void> {
  for (let session = 0; !load.isStopping; session += 1) {
    let token = (await registerAccount(load, `refreshing-${session}-${label}@example.com`))?.refresh
    while (token !== undefined && !load.isStopping) {
      const request = { method: 'POST', path: '/api/auth/refresh', key: newId() }
      const answer = await writeUntilAcknowledged(load, { ...request, body: { refresh_token: token } }).catch(
        () => undefined
      )
      token = answer?.json.refresh_token
      await delay(load.pauseMs)
    }
  }
}

/** Returns the tokens of a new account, or `undefined` on a rejection, which the traffic records. */
async function registerAccount(
  load: Load,
  email: string
): Promise<{ access: string; refresh: string } | undefined> {
  const body = { email, password: 'an uncommon sentence' }
  const request = { method: 'POST', path: '/api/auth/register', key: newId(), body }
  const answer = await writeUntilAcknowledged(load, request).catch(() => undefined)
  return answer && { access: answer.json.access_token, refresh: answer.json.refresh_token }
}
