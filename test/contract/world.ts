import { standardModules } from '../../src/app.ts'
import { newId } from '../../src/kernel/ids.ts'
import { signSandboxWebhook } from '../../src/payment-sandbox/signature.ts'
import { openTestShop, type TestResponse } from '../../src/testing.ts'
import { until } from '../faults/until.ts'
import { withAccounts } from '../never/use-everything.ts'
import { labelCarrier } from '../support/carrier.ts'
import { createProduct } from '../support/catalog.ts'
import { itemOf, STOCKHOLM, usePost } from '../support/checkouts.ts'
import { createTestDatabase } from '../support/database.ts'
import { sent, TRANSFER } from '../support/orders.ts'
import { openTestSandbox, WEBHOOK_SECRET } from '../support/payments.ts'

export const CARD = { provider: 'sandbox', method: 'card' }
/** No process listens there, so that a delivery fails immediately. */
export const UNREACHABLE = 'https://127.0.0.1:9/hooks'

// biome-ignore lint/suspicious/noExplicitAny: a test reads fields of whatever came back
type Json = any

/** A shop of all modules with two customers, for the tests of one file; it has to be closed. */
export async function openContractShop(settings: Readonly<Record<string, string>> = {}) {
  const database = await createTestDatabase()
  const sandbox = await openTestSandbox()
  const shop = await openTestShop({
    databaseUrl: database.url,
    isMigrated: true,
    runsSchedulesAtStart: false,
    modules: [...standardModules, labelCarrier().module],
    settings: {
      CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandbox.url,
      CARTWRIGHT__PAYMENTS__CAPTURE: 'manual',
      CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000',
      CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000',
      CARTWRIGHT__AUTH__API_KEYS_MAX: '1000',
      CARTWRIGHT__AUTH__ADDRESSES_MAX: '1000',
      CARTWRIGHT__WEBHOOKS__ENDPOINTS_MAX: '50',
      CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]',
      ...settings
    }
  })
  const everything = await withAccounts(shop)
  const { admin, anonymous, register } = everything
  const [ada, eve] = [await register(), await register()]
  const { json: me } = await admin.get('/api/auth/me')
  const post = await usePost(async (path, body) => orThrow(await admin.post(`/api/admin/${path}`, body)))
  const product = async (fields: object = {}): Promise<Json> =>
    createProduct(
      {
        request: (method, url, options) => shop.request(method, url, { ...options, token: everything.token })
      },
      { status: 'active', ...fields }
    )
  const variant = async (): Promise<string> => (await product()).variants[0].id
  const mug = await variant()
  const unreviewed: string = (await product()).id
  /** What an administrator makes; returns the response. */
  const made = async (path: string, body: object): Promise<Json> => orThrow(await admin.post(path, body))
  const asAda = shop.as(ada)
  const order = async (payment: object = TRANSFER): Promise<Json> =>
    orThrow(await asAda.post('/api/orders', { ...sent(mug, 2), payment }))
  const paymentOf = async (orderId: string): Promise<string> => {
    const { items } = (await admin.get(`/api/admin/payments?order_id=${orderId}`)).json
    return items[0].id
  }
  const paidOrder = async (): Promise<Json> => {
    const { id } = await order()
    await made(`/api/admin/payments/${await paymentOf(id)}/capture`, {})
    return (await admin.get(`/api/admin/orders/${id}`)).json
  }
  const shippedOrder = async () => {
    const { id } = await paidOrder()
    const shipped = await made(`/api/admin/orders/${id}/shipments`, {})
    const { items } = (await admin.get(`/api/admin/shipping/shipments?order_id=${id}`)).json
    return { order: shipped, id: id as string, shipmentId: items[0].id as string }
  }
  /** The id of a shipment that has not left yet. */
  const unshipped = async (): Promise<string> => {
    const { id } = await paidOrder()
    return (await admin.get(`/api/admin/shipping/shipments?order_id=${id}`)).json.items[0].id
  }
  /** The id of a shipment whose label is ready. */
  const labeled = async (): Promise<string> => {
    const id = await unshipped()
    await made(`/api/admin/shipping/shipments/${id}/label`, {})
    const read = async () => (await admin.get(`/api/admin/shipping/shipments/${id}/label`)).json
    await until(`the label of ${id} is ready`, async () => (await read()).status === 'ready')
    return id
  }
  /** An order paid by card: authorized, not captured. */
  const cardOrder = async () => {
    const { id } = await order(CARD)
    const payment = await paymentOf(id)
    const intent = await sandbox.intentOf(payment)
    await sandbox.ask(`/test/payment_intents/${intent.id}/pay`, {})
    orThrow(await asAda.post(`/api/payments/by-order/${id}/confirm`))
    return { id: id as string, payment }
  }
  const guestOrder = async (payment: object = TRANSFER) => {
    const body = { ...sent(mug), email: `${newId()}@example.com`, payment }
    const { id, order_token } = orThrow(await anonymous.post('/api/orders/guest', body))
    return { id: id as string, email: body.email, headers: { 'x-order-token': order_token as string } }
  }
  const guestCheckout = async () => {
    const body = { ...sent(mug), email: `${newId()}@example.com` }
    const { id, checkout_token } = orThrow(await anonymous.post('/api/checkouts/guest', body))
    return { id: id as string, headers: { 'x-checkout-token': checkout_token as string } }
  }
  const guestCart = async () => {
    const { guest_cart_token } = orThrow(await anonymous.post('/api/guest-cart', itemOf(mug)))
    return { 'x-guest-cart-token': guest_cart_token as string }
  }
  return {
    ...everything,
    ada,
    eve,
    asAda,
    mug,
    unreviewed,
    post,
    sandbox,
    product,
    variant,
    made,
    boss: me.id as string,
    order,
    paidOrder,
    shippedOrder,
    unshipped,
    labeled,
    cardOrder,
    paymentOf,
    guestOrder,
    guestCheckout,
    guestCart,
    checkout: async (): Promise<string> => orThrow(await asAda.post('/api/checkouts', sent(mug))).id,
    address: async (): Promise<string> =>
      orThrow(await asAda.post('/api/auth/addresses', { address: STOCKHOLM })).id,
    /** Another guest's headers, for what only the owner may see. */
    otherGuest: async () => ({ ...(await guestOrder()).headers, ...(await guestCheckout()).headers }),
    /** The request that the sandbox calls back with. */
    callback: (event: object) => {
      const body = Buffer.from(JSON.stringify(event))
      const signature = signSandboxWebhook(WEBHOOK_SECRET, body, new Date())
      return { body, headers: { 'content-type': 'application/json', 'sandbox-signature': signature } }
    },
    close: async () => {
      await shop.close()
      await sandbox.close()
      await database.drop()
    }
  }
}
export type ContractShop = Awaited<ReturnType<typeof openContractShop>>

function orThrow({ status, json, text }: TestResponse): Json {
  if (status >= 300) throw new Error(`${status} ${text}`)
  return json
}
