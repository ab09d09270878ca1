import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { listDeclaredStatements, orderedParameterValues } from '../../src/platform/postgres/statement.ts'
import { createCustomer, createShippingMethods, useShopOfAllModules } from '../never/use-everything.ts'

const BEGINNING = '1970-01-01T00:00:00Z'
const DEADLINE = { timeout: 60_000 }
// biome-ignore lint/suspicious/noExplicitAny: a test reads fields of any response
type Entry = any
/** A list that systems poll, and the name of a statement by which the shop changes an entry. */
type Polled = {
  path: string
  /** Of those that the list has without `updated_since`. */
  filter: string
  idOf: (entry: Entry) => string
  change: string
  given: (id: string, of: { locationId: string }) => Record<string, unknown>
}

const LISTS: Polled[] = [
  {
    path: '/api/admin/orders',
    filter: 'status=paid',
    idOf: ({ id }) => id,
    change: 'orders.update_state',
    given: id => ({
      id,
      state: 'pending',
      fulfillment_status: 'none',
      cancel_requested_by: null,
      is_held: true,
      terms: 'prepaid',
      payment_status: null,
      is_overpaid: null,
      is_disputed: null
    })
  },
  {
    path: '/api/catalog/products',
    filter: 'status=active',
    idOf: ({ id }) => id,
    change: 'catalog.touch_product',
    given: id => ({ id })
  },
  {
    path: '/api/admin/payments',
    filter: 'status=pending',
    idOf: ({ id }) => id,
    change: 'payments.set_payment_object',
    given: id => ({ id, object_id: id, next_step: null })
  },
  {
    path: '/api/admin/users',
    filter: 'role=customer',
    idOf: ({ id }) => id,
    change: 'auth.update_profile',
    given: id => ({ id, name: 'Ada', phone: null, locale: null, marketing_consent: false, metadata: {} })
  },
  {
    path: '/api/inventory/levels',
    filter: 'location=main',
    idOf: ({ variant_id }) => variant_id,
    change: 'inventory.update_levels',
    given: (id, { locationId }) => ({
      itemIds: [id],
      locationIds: [locationId],
      onHand: [7],
      reserved: [0],
      safety: [0],
      // Each change has a higher number than the last.
      seqs: [Date.now()],
      sourceVersions: [null]
    })
  }
]

/** A shop with two entries in each list, and clients that poll it. */
async function usePolledShop() {
  const shop = await useShopOfAllModules()
  await createShippingMethods(shop)
  for (let made = 0; made < 2; made += 1) {
    const product = await shop.sell()
    const counted = await shop.admin.put(`/api/inventory/levels/${product.variants[0].id}`, { on_hand: 100 })
    expect(counted.status, counted.text).toBe(200)
    await createCustomer(shop, product)
  }
  await shop.handled()
  const connect = async () => {
    const client = new pg.Client({ connectionString: shop.databaseUrl })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  /** Reads all pages since a time. */
  async function poll(path: string, since: string) {
    const items: Entry[] = []
    for (let cursor = ''; ; ) {
      const { status, json, text } = await shop.admin.get(
        `${path}?updated_since=${encodeURIComponent(since)}&limit=1${cursor && `&cursor=${cursor}`}`
      )
      expect(status, text).toBe(200)
      items.push(...json.items)
      if (json.next_cursor === null) return { items, since: json.next_since as string }
      cursor = json.next_cursor
    }
  }
  return { shop, connect, poll }
}
async function makeChange(by: pg.Client, { change, given }: Polled, id: string): Promise<void> {
  const statement = listDeclaredStatements().find(({ name }) => name === change)
  if (statement === undefined) throw new Error(`there is no statement ${change}`)
  const { rows } = await by.query(`select id from inventory.locations where code = 'main'`)
  await by.query(statement.text, orderedParameterValues(statement, given(id, { locationId: rows[0].id })))
}

test('a poll of changes misses no change of a transaction that stays open while others commit', async () => {
  const { connect, poll } = await usePolledShop()
  const [holder, other] = [await connect(), await connect()]
  const clients = await Promise.all(
    LISTS.map(async list => {
      const { items, since } = await poll(list.path, BEGINNING)
      const [late = '', early = ''] = [...new Set(items.map(list.idOf))]
      expect(early, list.path).not.toBe('')
      return { ...list, late, early, since, seen: new Map(items.map(each => [list.idOf(each), each])) }
    })
  )
  type Client = (typeof clients)[number]
  const pollNext = async (client: Client) => {
    const { items, since } = await poll(client.path, client.since)
    for (const each of items) client.seen.set(client.idOf(each), each)
    client.since = since
  }

  await holder.query('begin')
  const startedAt = (await holder.query('select now() as at')).rows[0].at.getTime()
  // Others commit and clients poll, until the transaction is older than the margin of next_since.
  for (let isOld = false; !isOld; ) {
    for (const client of clients) await makeChange(other, client, client.early)
    for (const client of clients) await pollNext(client)
    const { rows } = await holder.query(`select clock_timestamp() - now() > interval '4 seconds' as is_old`)
    isOld = rows[0].is_old
  }
  for (const client of clients) await makeChange(holder, client, client.late)
  for (const client of clients) await makeChange(other, client, client.early)
  for (const client of clients) {
    await pollNext(client)
    expect(Date.parse(client.since), client.path).toBeLessThan(startedAt)
  }
  const before = clients.map(({ seen, late }) => seen.get(late))
  await holder.query('commit')
  for (const [index, client] of clients.entries()) {
    await pollNext(client)
    const { seen, late, early } = client
    expect(seen.get(late), client.path).not.toEqual(before[index])
    // The older time is behind what the client had read before.
    expect(Date.parse(seen.get(late).updated_at)).toBeLessThan(Date.parse(seen.get(early).updated_at))
  }
  for (const client of clients)
    await expect
      .poll(async () => {
        await pollNext(client)
        return Date.parse(client.since)
      }, DEADLINE)
      .toBeGreaterThan(startedAt)
})

test('no list accepts a filter together with updated_since', async () => {
  const { admin } = await useShopOfAllModules()
  for (const { path, filter } of LISTS) {
    const { status, json } = await admin.get(`${path}?updated_since=${BEGINNING}&${filter}`)
    expect([path, status, json.code]).toEqual([path, 400, 'UPDATED_SINCE_FILTERED'])
  }
})
