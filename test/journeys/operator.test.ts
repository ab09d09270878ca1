import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { STOCKHOLM } from '../support/checkouts.ts'
import { PATIENCE } from '../support/mailing-shop.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import {
  ADMIN,
  type ApiClient,
  createApiClient,
  describeOnAllServices,
  EMAIL,
  expectSuccess,
  logInAt,
  openMugShop,
  PASSWORD,
  TRANSFER,
  useProgram
} from './shop.ts'

const ADA = { email: EMAIL, password: PASSWORD }
const EVE = { email: 'eve@example.com', password: PASSWORD }
const COUNT = 1_000
const MANY_ORDERS = {
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000',
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000',
  CARTWRIGHT__ORDERS__ORDERS_PER_MINUTE: '1000'
}
/** The response to a placed order. It has a token when a guest placed it. */
type Ordered = { id: string; number: string; order_token?: string }

const orderOf = (variant_id: string, quantity = 1) => ({
  items: [{ variant_id, quantity }],
  shipping_address: STOCKHOLM,
  payment: TRANSFER
})
const guestOrderOf = (variant_id: string, quantity = 1) => ({
  email: 'guest@example.com',
  ...orderOf(variant_id, quantity)
})
/** The order as its customer or guest reads it. */
const read = (ada: ApiClient, { id, order_token }: Ordered) =>
  order_token === undefined
    ? ada.get(`/api/orders/${id}`)
    : ada.get(`/api/orders/guest/${id}`, undefined, { 'x-order-token': order_token })

/** Of one variant: what is reserved for whom, and how many are on hand. */
async function stockAt(origin: string, variantId: string) {
  const admin = await logInAt(origin, ADMIN)
  const { items: levels } = await expectSuccess(admin.get(`/api/inventory/levels?variant_id=${variantId}`))
  const reserved = new Map<string, number>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page = await expectSuccess(
      admin.get(`/api/inventory/reservations?limit=100&variant_id=${variantId}${from}`)
    )
    // What is only held belongs to an order that was being made.
    for (const { owner, quantity, fulfilled, state } of page.items)
      if (state === 'claimed' || state === 'confirmed') reserved.set(owner, quantity - fulfilled)
    cursor = page.next_cursor
  }
  return { onHand: levels[0].on_hand as number, reserved }
}

/** Levels, movements and reservations of the stock say the same. */
async function expectConsistentLedgers(origin: string): Promise<void> {
  const admin = await logInAt(origin, ADMIN)
  const { findings, rest_cursor } = await expectSuccess(admin.get('/api/inventory/check'))
  expect([findings, rest_cursor]).toEqual([[], null])
}

describeOnAllServices(
  ground => {
    test('an operator restores a backup made while the shop was selling: it has all sales until then, and goes on selling', async () => {
      const shop = await openMugShop(ground, COUNT, MANY_ORDERS)
      const { premises, anonymous, variantId, receive, mails } = shop
      await expectSuccess(anonymous.post('/api/auth/register', ADA))
      const session = await expectSuccess(anonymous.post('/api/auth/login', ADA))
      const ada = createApiClient(shop.storefront, session.access_token)

      const key = { 'idempotency-key': 'before-the-backup' }
      const keyed: Ordered = await expectSuccess(ada.post('/api/orders', orderOf(variantId, 2), key))
      const paid: Ordered = await expectSuccess(ada.post('/api/orders', orderOf(variantId, 3)))
      const byGuest: Ordered = await expectSuccess(
        anonymous.post('/api/orders/guest', guestOrderOf(variantId, 4))
      )
      for (const { id } of [paid, byGuest]) await receive(id)
      await expectSuccess(shop.admin.post(`/api/admin/orders/${byGuest.id}/shipments`, {}))
      await expectSuccess(ada.post('/api/cart', { variant_id: variantId, quantity: 5 }))
      const before = [keyed, paid, byGuest]
      // What follows from them has happened.
      const sent = async () =>
        (await expectSuccess(shop.admin.get('/api/admin/notifications?status=sent&count=true'))).total
      await expect.poll(sent, PATIENCE).toBe(5)
      const onHandThere = async () => (await stockAt(shop.backOffice, variantId)).onHand
      await expect.poll(onHandThere, PATIENCE).toBe(COUNT - 4)
      const asked = await Promise.all(before.map(each => read(ada, each)))

      const file = join(premises.folder, 'shop.backup')
      const during: Ordered[] = []
      let isOver = false
      const buying = (async () => {
        while (!isOver) {
          during.push(await expectSuccess(anonymous.post('/api/orders/guest', guestOrderOf(variantId))))
          // There are other processes on this machine, and the backup is one of them.
          await delay(20)
        }
      })()
      await expect.poll(() => during.length, PATIENCE).toBeGreaterThan(3)
      await premises.command('backup', file).finally(() => {
        isOver = true
      })
      await buying

      const late = { 'idempotency-key': 'after-the-backup' }
      const after: Ordered = await expectSuccess(ada.post('/api/orders', orderOf(variantId, 6), late))
      await expectSuccess(ada.delete('/api/cart'))
      await expectSuccess(anonymous.post('/api/auth/register', EVE))
      const eve = await expectSuccess(anonymous.post('/api/auth/login', EVE))
      await premises.stop()
      const mailed = mails.taken.length

      const restored = await useProgram(ground, shop.settings)
      if (ground === 'embedded') {
        await mkdir(restored.data)
        await copyFile(join(premises.data, 'secrets'), join(restored.data, 'secrets'))
      }
      await restored.command('restore', file)
      const [origin = '', other = origin] = await restored.start()
      const [adaHere, guestHere] = [createApiClient(other, session.access_token), createApiClient(other)]
      for (const [index, each] of before.entries()) {
        const { status, json } = await read(adaHere, each)
        expect([status, json]).toEqual([200, asked[index]?.json])
      }
      // Of those that were ordered meanwhile, one after the other, the first ones are there, and no other.
      const found = await Promise.all(during.map(async each => (await read(guestHere, each)).status))
      const kept = during.filter((_, index) => found[index] === 200)
      expect(kept.length).toBeGreaterThan(0)
      expect(found).toEqual(during.map((_, index) => (index < kept.length ? 200 : 404)))
      expect((await read(adaHere, after)).status).toBe(404)

      // Sessions of before the backup continue; accounts that were created later are unknown.
      expect((await adaHere.get('/api/cart')).json).toMatchObject({ count: 5 })
      await expectSuccess(guestHere.post('/api/auth/refresh', { refresh_token: session.refresh_token }))
      expect((await createApiClient(other, eve.access_token).get('/api/cart')).status).toBe(401)
      expect((await guestHere.post('/api/auth/login', EVE)).status).toBe(401)

      // Every mug is on hand, or promised to an order that is there.
      const { onHand, reserved } = await stockAt(origin, variantId)
      expect(onHand).toBe(COUNT - 4)
      expect(reserved).toEqual(
        new Map([[keyed.id, 2], [paid.id, 3], ...kept.map(({ id }) => [id, 1] as const)])
      )
      await expectConsistentLedgers(origin)

      // The shop sells on: work from before the backup is not repeated, and later orders get new numbers.
      const again = await adaHere.post('/api/orders', orderOf(variantId, 2), key)
      expect([again.json.id, again.headers['idempotency-replayed']]).toEqual([keyed.id, 'true'])
      const once = await expectSuccess(adaHere.post('/api/orders', orderOf(variantId, 6), late))
      const more: Ordered[] = [once]
      for (let count = 0; count < 3; count += 1)
        more.push(await expectSuccess(guestHere.post('/api/orders/guest', guestOrderOf(variantId))))
      const numbers = [...before, ...during, after, ...more].map(({ number }) => number)
      expect(new Set(numbers).size).toBe(numbers.length)
      expect((await stockAt(origin, variantId)).reserved.get(once.id)).toBe(6)
      // No mail from before the backup is sent again.
      const bodies = mails.taken.slice(mailed).map(({ text }) => text)
      for (const { number } of before) expect(bodies.filter(text => text?.includes(number))).toEqual([])
    })

    test('restoring a backup of a version with other migrations is rejected, and the error says what to do', async () => {
      const shop = await useProgram(ground, SECRET_SETTINGS)
      const backup = fileURLToPath(new URL('older-shop.backup', import.meta.url))
      await expect(shop.command('restore', backup)).rejects.toThrow(
        'Restore it with the version and the modules that created it.'
      )
    })
  },
  { areExpensive: true }
)
