import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import { count, insist, type Person } from './book.ts'

/** An order, and what proves that it is ours. */
export type Order = { id: string; guestToken?: string; customer?: string }
type Outcome = 'pay' | 'authenticate' | 'fail'

const TRANSFER = { provider: 'manual', method: 'bank_transfer' }
const TRIES = 3
const PAUSE_MS = 300
const PAGE_MS_MAX = 5_000

/** Pays as people do: at once, on a second try, in two tabs, in another way after all, or never. */
export async function payFor(person: Person, order: Order): Promise<void> {
  await person.dice.of(WAYS)(person, order)
}

const WAYS: readonly ((person: Person, order: Order) => Promise<unknown>)[] = [
  (person, order) => payBy(person, order, 'pay'),
  (person, order) => payBy(person, order, 'pay'),
  (person, order) => payBy(person, order, 'authenticate', 'pay'),
  (person, order) => payBy(person, order, 'fail', 'pay'),
  (person, order) => Promise.all([payBy(person, order, 'pay'), payBy(person, order, 'pay')]),
  payAfterAnotherChoice,
  async () => {}
]

async function payBy(person: Person, order: Order, ...outcomes: Outcome[]): Promise<void> {
  const page = await beginPayment(person, order)
  if (page !== undefined) await visit(person, page, outcomes)
}

/** The buyer chooses a bank transfer, then pays by card in a page that is still open. */
async function payAfterAnotherChoice(person: Person, order: Order): Promise<void> {
  const page = await beginPayment(person, order)
  await intent(person, order, TRANSFER)
  const again = person.dice.chance(0.5) ? await beginPayment(person, order) : undefined
  for (const each of [page, again]) if (each !== undefined) await visit(person, each, ['pay'])
}

const intent = (person: Person, { id, guestToken, customer }: Order, choice: object = {}) =>
  insist(person, newId(), {
    method: 'POST',
    path: customer === undefined ? '/api/payments/guest/intent' : '/api/payments/intent',
    ...(customer !== undefined && { token: customer }),
    headers: proofOf(guestToken),
    body: { order_id: id, ...choice }
  })

/** What shows that a guest's order is theirs. */
export const proofOf = (guestToken: string | undefined): object =>
  guestToken === undefined ? {} : { 'x-order-token': guestToken }

/** Waits for the URL of the payment page. */
async function beginPayment(person: Person, order: Order): Promise<URL | undefined> {
  for (let tries = 0; tries < TRIES && !person.book.stopping; tries += 1) {
    const answer = await intent(person, order)
    count(person.book, `intent: ${answer?.status === 201 ? 201 : answer?.json?.code}`)
    const url = answer?.json?.redirect_url
    if (typeof url === 'string') return new URL(url)
    if (answer?.status !== 201) return undefined
    await delay(PAUSE_MS)
  }
  return undefined
}

/** What a customer does on the provider's page, which may not be there. */
async function visit(person: Person, page: URL, outcomes: readonly Outcome[]): Promise<void> {
  for (const outcome of outcomes) {
    const form = { client_secret: page.searchParams.get('client_secret') ?? '', outcome }
    const answer = await fetch(page.origin + page.pathname, {
      method: 'POST',
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(PAGE_MS_MAX)
    }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => {})
    count(person.book, `page, ${outcome}: ${answer?.status ?? 'not there'}`)
  }
}
