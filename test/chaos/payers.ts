import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import { type ChaosClient, countInReport, sendUntilAcknowledged } from './run-record.ts'

/** An order, and the credentials of its buyer. */
export type Order = { id: string; guestToken?: string; customer?: string }
type Outcome = 'pay' | 'authenticate' | 'fail'

const TRANSFER = { provider: 'manual', method: 'bank_transfer' }
const TRIES = 3
const PAUSE_MS = 300
const PAGE_MS_MAX = 5_000

/** Pays as customers do: immediately, on a second try, in two tabs, after another choice, or never. */
export async function payFor(client: ChaosClient, order: Order): Promise<void> {
  await client.dice.of(WAYS)(client, order)
}

const WAYS: readonly ((client: ChaosClient, order: Order) => Promise<unknown>)[] = [
  (client, order) => payBy(client, order, 'pay'),
  (client, order) => payBy(client, order, 'pay'),
  (client, order) => payBy(client, order, 'authenticate', 'pay'),
  (client, order) => payBy(client, order, 'fail', 'pay'),
  (client, order) => Promise.all([payBy(client, order, 'pay'), payBy(client, order, 'pay')]),
  payAfterAnotherChoice,
  async () => {}
]

async function payBy(client: ChaosClient, order: Order, ...outcomes: Outcome[]): Promise<void> {
  const page = await beginPayment(client, order)
  if (page !== undefined) await visit(client, page, outcomes)
}

/** The buyer chooses a bank transfer, then pays by card in a page that is still open. */
async function payAfterAnotherChoice(client: ChaosClient, order: Order): Promise<void> {
  const page = await beginPayment(client, order)
  await intent(client, order, TRANSFER)
  const again = client.dice.chance(0.5) ? await beginPayment(client, order) : undefined
  for (const each of [page, again]) if (each !== undefined) await visit(client, each, ['pay'])
}

const intent = (client: ChaosClient, { id, guestToken, customer }: Order, choice: object = {}) =>
  sendUntilAcknowledged(client, newId(), {
    method: 'POST',
    path: customer === undefined ? '/api/payments/guest/intent' : '/api/payments/intent',
    ...(customer !== undefined && { token: customer }),
    headers: orderTokenHeader(guestToken),
    body: { order_id: id, ...choice }
  })

/** Returns the header with the token of a guest's order. */
export const orderTokenHeader = (guestToken: string | undefined): object =>
  guestToken === undefined ? {} : { 'x-order-token': guestToken }

/** Waits for the URL of the payment page. */
async function beginPayment(client: ChaosClient, order: Order): Promise<URL | undefined> {
  for (let tries = 0; tries < TRIES && !client.record.stopping; tries += 1) {
    const answer = await intent(client, order)
    countInReport(client.record, `intent: ${answer?.status === 201 ? 201 : answer?.json?.code}`)
    const url = answer?.json?.redirect_url
    if (typeof url === 'string') return new URL(url)
    if (answer?.status !== 201) return undefined
    await delay(PAUSE_MS)
  }
  return undefined
}

/** Submits the provider's payment page, which may be unavailable. */
async function visit(client: ChaosClient, page: URL, outcomes: readonly Outcome[]): Promise<void> {
  for (const outcome of outcomes) {
    const form = { client_secret: page.searchParams.get('client_secret') ?? '', outcome }
    const answer = await fetch(page.origin + page.pathname, {
      method: 'POST',
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(PAGE_MS_MAX)
    }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => {})
    countInReport(client.record, `page, ${outcome}: ${answer?.status ?? 'not there'}`)
  }
}
