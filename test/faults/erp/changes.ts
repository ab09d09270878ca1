import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../../src/kernel/ids.ts'
import { STOCKHOLM } from '../../support/checkouts.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'

/** Administrators and buyers who change the shop while an ERP follows it. */
export type ShopChanges = {
  /** Sends changes until as many were accepted. Each is repeated with its key until the shop answers. */
  run(changes: number): Promise<void>
  readonly counts: { accepted: number; rejected: number; outages: number; wrong: string[] }
}
type Variant = { id: string; product: string }
type Options = { http: HttpClient; token: string; variants: readonly Variant[] }

const CLIENTS = 4
const RETRY_MS = 50
const UNITS_MAX = 5
const SAFETY_MAX = 5
/** Sent with the safety stock of a variant without a level. */
const STOCK_UNLESS_COUNTED = 100
/** How often each change happens, of 100. */
const SHARES = {
  'change product': 14,
  'change price': 12,
  'create product': 5,
  'delete product': 3,
  'count stock': 14,
  'adjust stock': 8,
  'change safety': 4,
  order: 19,
  note: 4,
  hold: 3,
  release: 3,
  ship: 5,
  'cancel unit': 3,
  cancel: 3
} as const
type Kind = keyof typeof SHARES

export function createChanges({ http, token, variants }: Options): ShopChanges {
  const counts = { accepted: 0, rejected: 0, outages: 0, wrong: [] as string[] }
  const sold: Variant[] = [...variants]
  const orders: string[] = []
  const pick = <T>(all: readonly T[]): T => {
    const found = all[randomInt(all.length)]
    if (found === undefined) throw new Error('nothing to choose from')
    return found
  }

  async function send(method: string, path: string, body?: object): Promise<Answer['json'] | undefined> {
    const headers = { 'idempotency-key': newId() }
    for (;;) {
      const answer = await http.send(method, path, { token, headers, body })
      if (answer !== undefined && answer.status < 300) {
        counts.accepted += 1
        return answer.json
      }
      const isOutage = answer === undefined || answer.status === 503
      const isRunning = answer?.json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
      if (!isOutage && !isRunning) {
        counts.rejected += 1
        if (answer.status >= 500) counts.wrong.push(`${method} ${path}: ${answer.status}`)
        return undefined
      }
      counts.outages += 1
      await delay(RETRY_MS)
    }
  }

  const act: Readonly<Record<Kind, () => Promise<unknown>>> = {
    'change product': () =>
      send('PATCH', `/api/catalog/products/${pick(sold).product}`, { name: `Thing ${newId()}` }),
    'change price': () =>
      send('PATCH', `/api/catalog/variants/${pick(sold).id}`, { price: randomInt(100, 10_000) }),
    'create product': async () => {
      const slug = newId()
      const body = { name: `New ${slug}`, slug, variants: [{ sku: slug, price: 1_000 }] }
      const made = await send('POST', '/api/catalog/products', body)
      if (made !== undefined) sold.push({ id: made.variants[0].id, product: made.id })
    },
    'delete product': () => {
      const [gone] = sold.splice(randomInt(sold.length), 1)
      return send('DELETE', `/api/catalog/products/${gone?.product}`)
    },
    'count stock': () =>
      send('PUT', `/api/inventory/levels/${pick(sold).id}`, { on_hand: randomInt(5, 500) }),
    'adjust stock': () =>
      send('POST', '/api/inventory/adjustments', {
        variant_id: pick(sold).id,
        delta: randomInt(1, UNITS_MAX),
        reason: 'Found behind the shelf'
      }),
    'change safety': async () => {
      const { id } = pick(sold)
      const level = await http.send('GET', `/api/inventory/levels?variant_id=${id}`, { token })
      const on_hand = level?.json?.items?.[0]?.on_hand ?? STOCK_UNLESS_COUNTED
      return send('PUT', `/api/inventory/levels/${id}`, { on_hand, safety: randomInt(SAFETY_MAX) })
    },
    order: async () => {
      const made = await send('POST', '/api/admin/orders', {
        email: 'buyer@example.com',
        shipping_address: STOCKHOLM,
        items: [{ variant_id: pick(sold).id, quantity: randomInt(1, UNITS_MAX) }],
        payment: { provider: 'manual', method: pick(['on_account', 'bank_transfer']) }
      })
      if (made !== undefined) orders.push(made.id)
    },
    note: () => send('POST', `/api/admin/orders/${pick(orders)}/notes`, { text: 'Call before delivery.' }),
    hold: () => send('POST', `/api/admin/orders/${pick(orders)}/transition`, { action: 'hold' }),
    release: () => send('POST', `/api/admin/orders/${pick(orders)}/transition`, { action: 'release' }),
    ship: () => send('POST', `/api/admin/orders/${pick(orders)}/shipments`, {}),
    'cancel unit': () =>
      send('POST', `/api/admin/orders/${pick(orders)}/cancel`, { lines: [{ line: 1, quantity: 1 }] }),
    cancel: () => send('POST', `/api/admin/orders/${pick(orders)}/cancel`, {})
  }

  function nextKind(): Kind {
    let ticket = randomInt(100)
    for (const [kind, share] of Object.entries(SHARES) as [Kind, number][]) {
      if (ticket < share) return kind
      ticket -= share
    }
    return 'order'
  }

  return {
    counts,
    run: async changes => {
      const client = async () => {
        while (counts.accepted < changes) {
          const kind = orders.length === 0 ? 'order' : nextKind()
          await act[kind]()
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, client))
    }
  }
}
