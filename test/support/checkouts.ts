import type { Module } from '../../src/module.ts'
import { cartModule } from '../../src/modules/cart/index.ts'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { inventoryModule } from '../../src/modules/inventory/index.ts'
import { ordersModule } from '../../src/modules/orders/index.ts'
import { paymentsModule } from '../../src/modules/payments/index.ts'
import { pricingModule } from '../../src/modules/pricing/index.ts'
import { shippingModule } from '../../src/modules/shipping/index.ts'
import type { TestShop } from '../../src/testing.ts'
import { createProduct } from './catalog.ts'
import { openShared } from './shared-shops.ts'
import { useShop } from './use-shop.ts'

export const CHECKOUT_MODULES = [
  pricingModule,
  inventoryModule,
  paymentsModule,
  catalogModule,
  shippingModule,
  cartModule,
  ordersModule
]

type Fakes = Record<string, object>
type Options<Apis extends Fakes> = {
  databaseUrl?: string
  settings?: Readonly<Record<string, string>>
  modules?: readonly Module[]
  /** Fake APIs of modules that are not in the list, or what creates them. A shop whose fake APIs are created can be shared. */
  instead?: Apis | (() => Apis)
}

/** A shop with all that a checkout asks, for one test. `off`: the names of modules that are switched off. */
export async function useCheckouts<Apis extends Fakes = Record<string, never>>({
  off = [],
  settings = {},
  modules = CHECKOUT_MODULES,
  instead = {} as Apis,
  databaseUrl
}: Options<Apis> & { off?: readonly string[] } = {}) {
  const switches = off.map(name => [`CARTWRIGHT__MODULES__${name.toUpperCase()}__ENABLED`, 'false'])
  const shop = await useShop({
    modules,
    instead,
    settings: { ...Object.fromEntries(switches), ...settings },
    databaseUrl
  })
  const admin = shop.as({ token: 'admin' })
  /** What an administrator makes by a route. */
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(`/api/admin/${path}`, body)
    if (status !== 201) throw new Error(text)
    return json
  }
  return {
    ...shop,
    admin,
    made,
    anonymous: shop.as(null),
    /** A variant that is on sale; answers its id. */
    sell: (fields: object = {}) => sell(shop, fields),
    /** Post to Sweden and Germany for 4.90, and pickup for nothing; once in a shared shop. */
    usePost: () => openShared(['post', shop.databaseUrl], () => usePost(made))
  }
}
async function sell(shop: Pick<TestShop, 'request'>, fields: object): Promise<string> {
  const variant = { sku: crypto.randomUUID(), price: 1_000, ...fields }
  return (await createProduct(shop, { variants: [variant] })).variants[0].id
}

type Made = (path: string, body: object) => Promise<{ id: string }>

export async function usePost(made: Made) {
  const areas = [{ country: 'SE' }, { country: 'DE' }]
  const zone = await made('shipping/zones', { name: 'Europe', areas })
  const method = async (kind: string, service: string) =>
    (await made('shipping/methods', { kind, service, tax_category: 'standard' })).id
  const rate = (fields: object) => made('shipping/rates', fields)
  const [standard, express] = [await method('shipping', 'Standard'), await method('shipping', 'Express')]
  const pickup = await method('pickup', 'In the shop')
  await rate({ method_id: standard, zone_id: zone.id, amount: 490 })
  await rate({ method_id: express, zone_id: zone.id, amount: 990 })
  await rate({ method_id: pickup, amount: 0 })
  return { zone, standard, express, pickup }
}

/** An address to which the post goes. */
export const STOCKHOLM = {
  name: 'Ada Lovelace',
  line1: 'Drottninggatan 1',
  city: 'Stockholm',
  postal_code: '111 51',
  country: 'SE'
}

export const itemOf = (variant_id: string, quantity = 1) => ({ variant_id, quantity })

/** The codes of findings, in their order. */
export const codesOf = ({ findings }: { findings: { code: string }[] }) => findings.map(({ code }) => code)
