import { newId } from '../../src/kernel/ids.ts'
import type { Traffic } from '../faults/network/traffic.ts'

const PLENTY_UNITS = 1_000_000
const SCARCE_UNITS = 40
const COUNTED_UNITS = 100
const CODE_USES = 30
/** Number of customers that buy simultaneously. */
const CUSTOMERS = 6
const ADMINISTRATORS = 6

/** Variants on sale, and the access tokens of their buyers and of an administrator. */
export type ShopGoods = {
  plenty: string
  scarce: string
  /** Not for sale; each administrator counts one of these. */
  counted: readonly string[]
  /** Codes of the stock locations. Variants on sale are in the first one only. */
  locations: readonly [string, string]
  /** Initial counts. */
  counts: readonly { variantId: string; location: string; onHand: number }[]
  code: string
  /** Codes of gift cards, which all buyers share. */
  giftCards: readonly string[]
  admin: string
  customers: readonly string[]
}

/** Creates a plentiful variant, a scarce one, and a promotion code with few uses. */
export async function createGoods(
  { at: [first] }: Traffic,
  owner: { email: string; password: string },
  webhookUrl: string
): Promise<Omit<ShopGoods, 'giftCards'>> {
  const made = async (method: string, path: string, body: object, token?: string) => {
    const answer = await first?.send(method, path, { body, ...(token !== undefined && { token }) })
    if (answer === undefined || answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer?.status} ${JSON.stringify(answer?.json)}`)
    return answer.json
  }
  const { access_token: admin } = await made('POST', '/api/auth/login', owner)
  await made('POST', '/api/admin/webhooks/endpoints', { url: webhookUrl }, admin)
  const annex = { code: 'annex', name: 'Annex', priority: 9 }
  await made('POST', '/api/inventory/locations', annex, admin)
  const locations = ['main', annex.code] as const
  const counts: ShopGoods['counts'][number][] = []
  const variant = async (name: string, onHand: number, at: readonly string[] = [locations[0]]) => {
    const variants = [{ sku: newId(), price: 1_250 }]
    const product = await made('POST', '/api/catalog/products', { name, slug: newId(), variants }, admin)
    const { id: variantId } = product.variants[0]
    for (const location of at) {
      await made('PUT', `/api/inventory/levels/${variantId}`, { on_hand: onHand, location }, admin)
      counts.push({ variantId, location, onHand })
    }
    return variantId as string
  }
  const plenty = await variant('Mug', PLENTY_UNITS)
  const scarce = await variant('Last mug', SCARCE_UNITS)
  const counted: string[] = []
  for (let number = 0; number < ADMINISTRATORS; number += 1)
    counted.push(await variant(`Counted ${number}`, COUNTED_UNITS, locations))
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const tenth = { name: 'A tenth off', class: 'order', needs_code: true, effect, uses_max: CODE_USES }
  const promotion = await made('POST', '/api/admin/promotions', tenth, admin)
  const { code } = await made('POST', `/api/admin/promotions/${promotion.id}/codes`, { code: 'TENTH' }, admin)
  const customers: string[] = []
  for (let number = 0; number < CUSTOMERS; number += 1) {
    const body = { email: `buyer-${number}@example.com`, password: owner.password }
    customers.push((await made('POST', '/api/auth/register', body)).access_token)
  }
  return { plenty, scarce, counted, locations, counts, code, admin, customers }
}
