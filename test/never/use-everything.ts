import { standardModules } from '../../src/app.ts'
import { newId } from '../../src/kernel/ids.ts'
import { authModule } from '../../src/modules/auth/index.ts'
import type { RequestOptions, TestShop } from '../../src/testing.ts'
import { until } from '../faults/until.ts'
import { createProduct } from '../support/catalog.ts'
import { itemOf, usePost } from '../support/checkouts.ts'
import { sent, TRANSFER } from '../support/orders.ts'
import { keepRecent } from '../support/recent-login.ts'
import { useShop } from '../support/use-shop.ts'

const PASSWORD = 'nine lives and a piano'
/** Statements of jobs, idempotency keys and retries, which run in the background of any request. */
const BACKGROUND_TABLES = ['cartwright.', 'notifications.', 'webhooks.']

/** A shop of all modules with real accounts, for one test. */
export const useShopOfAllModules = async () => withAccounts(await useShop())

/** Adds to a shop what tests of all routes need: accounts, products and the state of every table. */
export async function withAccounts(shop: TestShop) {
  const anonymous = shop.as(null)
  const auth = shop.apiOf(authModule)
  if (auth === undefined) throw new Error('the module auth is switched off')
  const logIn = async (email: string): Promise<string> =>
    (await anonymous.post('/api/auth/login', { email, password: PASSWORD })).json.access_token
  const administrator = { email: 'boss@example.com', password: PASSWORD, role: 'admin' } as const
  const { id } = await auth.createUser(administrator)
  const token = await logIn(administrator.email)
  await keepRecent(shop, id)
  const admin = shop.as({ token })
  const sell = () =>
    createProduct(
      { request: (method, url, options) => shop.request(method, url, { ...options, token }) },
      { status: 'active' }
    )
  const register = async () => {
    const email = `${newId()}@example.com`
    const { json } = await anonymous.post('/api/auth/register', { email, password: PASSWORD })
    return { id: json.user.id as string, email, token: json.access_token as string }
  }
  /** Waits until every event and job that is due is handled. */
  const handled = () => {
    // No process handles the jobs of contract tests.
    const open = `select handler from cartwright.jobs
      where id > 0 and (due_at <= now() or lease is not null) and handler not like 'contract:%'`
    return until('no event or job is due or running', async () => (await shop.sql(open)).length === 0)
  }
  return {
    ...shop,
    admin,
    token,
    anonymous,
    auth,
    logIn,
    register,
    sell,
    modules: standardModules.map(({ name }) => name),
    handled,
    /** The state of each table once all events and jobs are handled. The sum of `xmin` differs after any write. */
    stored: async (): Promise<Record<string, string>> => {
      await handled()
      const tables = await shop.sql(
        `select schemaname || '.' || tablename as name from pg_tables
         where schemaname not in ('pg_catalog', 'information_schema') order by name`
      )
      const names = tables
        .map(({ name }) => String(name))
        .filter(name => name === 'cartwright.audit' || !BACKGROUND_TABLES.some(each => name.startsWith(each)))
      const each = names.map(
        name =>
          `select '${name}' as name, count(*) || ' ' || coalesce(sum(xmin::text::int8), 0) as rows from ${name}`
      )
      const rows = await shop.sql(each.join(' union all '))
      return Object.fromEntries(rows.map(({ name, rows }) => [String(name), String(rows)]))
    }
  }
}
export type ShopOfAllModules = Awaited<ReturnType<typeof useShopOfAllModules>>

/** A customer who owns one resource of every kind. */
export async function createCustomer(
  shop: ShopOfAllModules,
  product: { id: string; variants: { id: string }[] }
) {
  const { token, email, id } = await shop.register()
  await shop.sql('update auth.users set email_verified_at = now() where id = $1', [id])
  const customer = shop.as({ token })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await customer.post(path, body)
    if (status !== 201) throw new Error(`${path}: ${text}`)
    return json.id as string
  }
  const variant = product.variants[0]?.id ?? ''
  const { shipping_address: address } = sent(variant)
  const { json: cart } = await customer.post('/api/cart', itemOf(variant))
  const of = {
    order: await made('/api/orders', { ...sent(variant), payment: TRANSFER }),
    checkout: await made('/api/checkouts', sent(variant)),
    line: cart.items[0].id as string,
    address: await made('/api/auth/addresses', { address }),
    session: (await customer.get('/api/auth/sessions')).json.items[0].id as string,
    review: product.id
  }
  await made(`/api/products/${product.id}/reviews`, { rating: 4, body: 'It holds tea.' })
  return { id, email, token, options: { token } as RequestOptions, of }
}

/** A guest with an order and a checkout. */
export async function createGuest(shop: ShopOfAllModules, variantId: string) {
  const body = { ...sent(variantId), email: `${newId()}@example.com` }
  const { json: order } = await shop.anonymous.post('/api/orders/guest', { ...body, payment: TRANSFER })
  const { json: checkout } = await shop.anonymous.post('/api/checkouts/guest', body)
  const headers = { 'x-order-token': order.order_token, 'x-checkout-token': checkout.checkout_token }
  return { options: { headers }, of: { order: order.id as string, checkout: checkout.id as string } }
}

/** Creates shipping methods with rates. */
export const createShippingMethods = (shop: ShopOfAllModules) =>
  usePost(async (path, body) => (await shop.admin.post(`/api/admin/${path}`, body)).json)
