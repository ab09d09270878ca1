import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { STOCKHOLM } from '../support/checkouts.ts'
import { PATIENCE } from '../support/mailing-shop.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import {
  ADMIN,
  type Caller,
  callerAt,
  done,
  EMAIL,
  logInAt,
  onEachGround,
  openMugShop,
  PASSWORD,
  TRANSFER,
  usePremises
} from './shop.ts'

vi.setConfig({ testTimeout: 180_000 })

const ADA = { email: EMAIL, password: PASSWORD }
const EVE = { email: 'eve@example.com', password: PASSWORD }
const COUNT = 1_000
const DAY_MS = 86_400_000
const MANY_ORDERS = {
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000',
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000',
  CARTWRIGHT__ORDERS__ORDERS_PER_MINUTE: '1000'
}
/** Some of what a shop of the older version lacks. */
const LATER = [
  'auth/0009_user_search.sql',
  'orders/0008_labels.sql',
  'payments/0008_figures.sql',
  'webhooks/0001_webhooks.sql'
]

/** What somebody was answered who ordered: its token is a guest's. */
type Ordered = { id: string; number: string; order_token?: string }

const orderOf = (variant_id: string, quantity = 1) => ({
  ...{ items: [{ variant_id, quantity }], shipping_address: STOCKHOLM, payment: TRANSFER }
})
const guestOrderOf = (variant_id: string, quantity = 1) => ({
  email: 'guest@example.com',
  ...orderOf(variant_id, quantity)
})
/** An order as whoever ordered it reads it. */
const read = (ada: Caller, { id, order_token }: Ordered) =>
  order_token === undefined
    ? ada.get(`/api/orders/${id}`)
    : ada.get(`/api/orders/guest/${id}`, undefined, { 'x-order-token': order_token })

/** Of one variant: what is reserved for whom, and how many are on hand. */
async function stockAt(origin: string, variantId: string) {
  const admin = await logInAt(origin, ADMIN)
  const { items: levels } = await done(admin.get(`/api/inventory/levels?variant_id=${variantId}`))
  const reserved = new Map<string, number>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page = await done(admin.get(`/api/inventory/reservations?limit=100&variant_id=${variantId}${from}`))
    // What is only held belongs to an order that was being made.
    for (const { owner, quantity, fulfilled, state } of page.items)
      if (state === 'claimed' || state === 'confirmed') reserved.set(owner, quantity - fulfilled)
    cursor = page.next_cursor
  }
  return { onHand: levels[0].on_hand as number, reserved }
}

/**
 * A backup of a shop that was run by commit a72b63f, and what that shop answered about each order. All of it is moved by
 * whole days to today, or else what was sold then would expire, and be done, as the years go by.
 */
async function openOlderShop() {
  const read = (name: string) => readFile(new URL(name, import.meta.url))
  const text = gunzipSync(await read('older-shop.backup')).toString()
  const takenAt = Date.parse(JSON.parse(text.slice(0, text.indexOf('\n'))).taken_at)
  const daysMs = Math.floor((Date.now() - takenAt) / DAY_MS) * DAY_MS
  const moved = (whole: string) =>
    whole.replace(/\d{4}-\d\d-\d\d(?=[ T]\d\d:\d\d:\d\d)/g, day =>
      new Date(Date.parse(day) + daysMs).toISOString().slice(0, 10)
    )
  const lines = moved((await read('older-shop.jsonl')).toString())
  const orders = lines
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  return { backup: gzipSync(moved(text)), orders }
}

/** Levels, movements and reservations of the stock say the same. */
async function expectAgreeingBooks(origin: string): Promise<void> {
  const admin = await logInAt(origin, ADMIN)
  const { findings, rest_cursor } = await done(admin.get('/api/inventory/check'))
  expect([findings, rest_cursor]).toEqual([[], null])
}

onEachGround(ground => {
  test('an operator backs a shop up while it sells, and restores it: what was sold until then is there, and it sells on', async () => {
    const shop = await openMugShop(ground, COUNT, MANY_ORDERS)
    const { premises, anybody, variantId, receive, mails } = shop
    await done(anybody.post('/api/auth/register', ADA))
    const session = await done(anybody.post('/api/auth/login', ADA))
    const ada = callerAt(shop.storefront, session.access_token)

    const key = { 'idempotency-key': 'before-the-backup' }
    const keyed: Ordered = await done(ada.post('/api/orders', orderOf(variantId, 2), key))
    const paid: Ordered = await done(ada.post('/api/orders', orderOf(variantId, 3)))
    const byGuest: Ordered = await done(anybody.post('/api/orders/guest', guestOrderOf(variantId, 4)))
    for (const { id } of [paid, byGuest]) await receive(id)
    await done(shop.admin.post(`/api/admin/orders/${byGuest.id}/shipments`, {}))
    await done(ada.post('/api/cart', { variant_id: variantId, quantity: 5 }))
    const before = [keyed, paid, byGuest]
    // What follows from them has happened.
    const sent = async () =>
      (await done(shop.admin.get('/api/admin/notifications?status=sent&count=true'))).total
    await expect.poll(sent, PATIENCE).toBe(5)
    const onHandThere = async () => (await stockAt(shop.backOffice, variantId)).onHand
    await expect.poll(onHandThere, PATIENCE).toBe(COUNT - 4)
    const asked = await Promise.all(before.map(each => read(ada, each)))

    const file = join(premises.folder, 'shop.backup')
    const during: Ordered[] = []
    let isOver = false
    const buying = (async () => {
      while (!isOver) {
        during.push(await done(anybody.post('/api/orders/guest', guestOrderOf(variantId))))
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
    const after: Ordered = await done(ada.post('/api/orders', orderOf(variantId, 6), late))
    await done(ada.delete('/api/cart'))
    await done(anybody.post('/api/auth/register', EVE))
    const eve = await done(anybody.post('/api/auth/login', EVE))
    await premises.stop()
    const mailed = mails.taken.length

    const restored = await usePremises(ground, shop.settings)
    if (ground === 'embedded') {
      await mkdir(restored.data)
      await copyFile(join(premises.data, 'secrets'), join(restored.data, 'secrets'))
    }
    await restored.command('restore', file)
    const [origin = '', other = origin] = await restored.start()
    const [adaHere, guestHere] = [callerAt(other, session.access_token), callerAt(other)]
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

    // Whoever was logged in is, and may go on; whoever came later is not known.
    expect((await adaHere.get('/api/cart')).json).toMatchObject({ count: 5 })
    await done(guestHere.post('/api/auth/refresh', { refresh_token: session.refresh_token }))
    expect((await callerAt(other, eve.access_token).get('/api/cart')).status).toBe(401)
    expect((await guestHere.post('/api/auth/login', EVE)).status).toBe(401)

    // Every mug is on hand, or promised to an order that is there.
    const { onHand, reserved } = await stockAt(origin, variantId)
    expect(onHand).toBe(COUNT - 4)
    expect(reserved).toEqual(
      new Map([[keyed.id, 2], [paid.id, 3], ...kept.map(({ id }) => [id, 1] as const)])
    )
    await expectAgreeingBooks(origin)

    // It sells on: what was done before the backup is not done again, what came after is, under a number that nobody has.
    const again = await adaHere.post('/api/orders', orderOf(variantId, 2), key)
    expect([again.json.id, again.headers['idempotency-replayed']]).toEqual([keyed.id, 'true'])
    const once = await done(adaHere.post('/api/orders', orderOf(variantId, 6), late))
    const more: Ordered[] = [once]
    for (let count = 0; count < 3; count += 1)
      more.push(await done(guestHere.post('/api/orders/guest', guestOrderOf(variantId))))
    const numbers = [...before, ...during, after, ...more].map(({ number }) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect((await stockAt(origin, variantId)).reserved.get(once.id)).toBe(6)
    // Nobody is told once more what they were told before the backup.
    const bodies = mails.taken.slice(mailed).map(({ text }) => text)
    for (const { number } of before) expect(bodies.filter(text => text?.includes(number))).toEqual([])
  })

  test('an operator upgrades a shop of an older version: what it has sold is there, and it goes on', async () => {
    const shop = await usePremises(ground, SECRET_SETTINGS)
    const older = await openOlderShop()
    const file = join(shop.folder, 'older.backup')
    await writeFile(file, older.backup)
    await shop.command('restore', file)
    const { pending: missing } = JSON.parse(await shop.command('migrate', '--dry-run', '--json'))
    expect(missing).toEqual(expect.arrayContaining(LATER))
    const [origin = '', other = origin] = await shop.start()
    const [ada, anybody, admin] = [await logInAt(other, ADA), callerAt(other), await logInAt(origin, ADMIN)]
    const [pending, shipped, refunded, canceled, paid] = older.orders
    for (const { body, ...order } of [pending, shipped, refunded, canceled, paid])
      expect((await read(ada, order)).json).toMatchObject(body)
    const [{ variant_id: variantId }] = paid.body.items
    expect((await ada.get('/api/cart')).json).toMatchObject({ count: 6, total: 6 * 1_200 })
    const followed = await done(anybody.get('/api/shipping/track/1Z999AA10123456784'))
    expect(followed).toMatchObject({ status: 'in_transit', events: [{ location: 'Uppsala' }] })
    const stock = await stockAt(origin, variantId)
    expect(stock.onHand).toBe(100 - 2)
    expect([...stock.reserved].sort()).toEqual(
      [
        [pending.id, 1],
        [refunded.id, 3],
        [paid.id, 5]
      ].sort()
    )
    await expectAgreeingBooks(origin)

    // What the older one has begun this one ends, and what has come since goes together with it.
    const path = (id: string) => `/api/admin/orders/${id}`
    expect(await done(admin.post(`${path(paid.id)}/shipments`, {}))).toMatchObject({ status: 'shipped' })
    const rest = { amount: refunded.body.total - 500, reason: 'it broke' }
    const all = await done(admin.post(`${path(refunded.id)}/refunds`, rest))
    expect(all.adjustments.map(({ back }: { back: number }) => back)).toEqual([500, rest.amount])
    expect(await done(ada.post(`/api/orders/${pending.id}/cancel`))).toMatchObject({ status: 'canceled' })
    const { items: reviews } = await done(anybody.get('/api/products/fika-mug/reviews'))
    expect(reviews).toMatchObject([{ rating: 4, body: 'Keeps warm', verified_purchase: true }])
    const spring = { ...orderOf(variantId, 6), codes: ['SPRING'] }
    const uses = [await ada.post('/api/orders', spring), await ada.post('/api/orders', spring)]
    expect(uses.map(each => [each.status, each.json.discount_total])).toEqual([
      [201, 720],
      [201, 720]
    ])
    expect((await ada.post('/api/orders', spring)).json.code).toBe('ORDER_CODE_REFUSED')
  })
})
