import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { type InventoryApi, inventoryModule } from '../index.ts'

const CHECK = '/api/inventory/check'
const REPAIR = '/api/inventory/repair'
type Finding = { kind: string; variant_id: string | null }

/** A shop with so many variants that are counted, of which 5 each are there. */
async function useCounted(items = 3) {
  const shop = await useShop({ modules: [inventoryModule] })
  const ids = (
    await shop.sql(
      'insert into inventory.items (id, tracked) select gen_random_uuid(), true from generate_series(1, $1) returning id',
      [items]
    )
  ).map(({ id }) => id as string)
  await shop.sql(
    `with level as (
      insert into inventory.levels (item_id, location_id, on_hand, seq)
      select items.id, locations.id, 5, 1 from inventory.items, inventory.locations returning item_id, location_id
    )
    insert into inventory.movements
      (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after, operation)
    select item_id, location_id, 1, 'count', 5, 0, 5, 0, gen_random_uuid() from level`
  )
  const inventory = shop.apiOf(inventoryModule) as InventoryApi
  return { ...shop, inventory, admin: shop.as({ token: 'admin' }), ids: ids.sort() }
}

test('an administrator lists discrepancies of the stock ledger, repairs them and gets those that remain', async () => {
  const { admin, ids, sql } = await useCounted()
  const [mug, cup, bowl] = ids as [string, string, string]
  expect((await admin.get(CHECK)).json).toEqual({ findings: [], total: 0, levels: 3, rest_cursor: null })
  await sql('update inventory.levels set on_hand = 9 where item_id = $1', [mug])
  await sql('update inventory.movements set on_hand_delta = 4 where item_id = $1', [cup])
  await sql(
    `insert into inventory.requests (id, kind, owner, lines, posted_at)
    values (gen_random_uuid(), 'release', gen_random_uuid(), '[]', now() - interval '2 minutes')`
  )
  await sql(
    `insert into inventory.reservations (owner, item_id, location_id, quantity, state)
    select gen_random_uuid(), $1, id, 2, 'claimed' from inventory.locations`,
    [bowl]
  )
  const { json } = await admin.get(`${CHECK}?limit=2`)
  expect(json).toMatchObject({ total: expect.any(Number), levels: 3, rest_cursor: null })
  expect(json.findings).toHaveLength(2)
  const differs = {
    kind: 'level_differs',
    variant_id: mug,
    location_id: expect.any(String),
    owner: null,
    request_id: null
  }
  expect((await admin.get(CHECK)).json.findings).toEqual(
    expect.arrayContaining([expect.objectContaining(differs)])
  )

  const repair = await admin.post(REPAIR)
  expect(repair.status).toBe(200)
  expect(repair.json.left).toMatchObject([{ kind: 'movement_differs', variant_id: cup }])
  expect(repair.json.repaired).toBe(repair.json.total - 1)
  expect(repair.json.findings.map(({ kind }: Finding) => kind)).toEqual(
    expect.arrayContaining(['level_differs', 'movement_differs', 'reserved_differs'])
  )
  expect((await admin.get(CHECK)).json).toMatchObject({ total: 1 })
  const [movement] = await sql(
    `select actor from inventory.movements where kind = 'repair' and item_id = $1`,
    [bowl]
  )
  const [audit] = await sql(`select actor, status from cartwright.audit where route = $1`, [REPAIR])
  expect(audit).toEqual({ actor: movement?.actor, status: 200 })
})

test('a large stock ledger is checked in pages, each level once, up to the limit', async () => {
  const { admin, ids, sql } = await useCounted(1_203)
  await sql('update inventory.levels set on_hand = 6 where item_id = any ($1)', [
    ids.filter((_, at) => at % 400 === 1)
  ])
  const { json } = await admin.get(`${CHECK}?limit=2`)
  expect(json).toMatchObject({ total: 4, levels: 1_203, rest_cursor: null })
  expect(json.findings.map((item: Finding) => item.variant_id)).toEqual([ids[1], ids[401]])
  expect((await admin.get(`${CHECK}?cursor=rubbish`)).json.code).toBe('INVALID_CURSOR')
  expect((await admin.get(`${CHECK}?limit=1001`)).status).toBe(400)
  const foreign = (await admin.get('/api/inventory/items?limit=1')).json.next_cursor
  expect((await admin.get(`${CHECK}?cursor=${foreign}`)).json.code).toBe('INVALID_CURSOR')
  const repair = (await admin.post(REPAIR)).json
  expect([repair.total, repair.repaired, repair.findings.length, repair.left]).toEqual([4, 4, 4, []])
})

test('stock levels with a long history are checked in parts, over several requests', async () => {
  const { admin, sql } = await useCounted(4)
  await sql('update inventory.levels set on_hand = 6')
  // Three movements are looked at for each level: two levels are read in time, and four are not.
  await sql('alter table inventory.movements rename to long_movements')
  await sql(
    'create view inventory.movements as select * from inventory.long_movements where pg_sleep(0.2) is not null'
  )
  const parts = [(await admin.get(CHECK)).json]
  while (parts.at(-1).rest_cursor !== null && parts.length < 8)
    parts.push((await admin.get(`${CHECK}?cursor=${parts.at(-1).rest_cursor}`)).json)
  expect(parts.length).toBeGreaterThan(1)
  const found = parts.flatMap(({ findings }) => findings.map((item: Finding) => item.variant_id))
  expect([found.length, new Set(found).size]).toEqual([4, 4])
})

test('findings of the daily stock ledger check are in the metrics of every process until they are repaired', async () => {
  const shop = await useCounted(2)
  const findings = async (each: Pick<typeof shop, 'request'>) => {
    const { text } = await each.request('GET', '/metrics')
    return /^cartwright_inventory_findings\{kind="level_differs"\} (\d+)$/m.exec(text)?.[1]
  }
  /** It is done, and planned for tomorrow. */
  const isPlanned = async () => {
    const text = `
      select from cartwright.jobs
      where handler = 'inventory.check_books' and lease is null and due_at > now() + interval '1 minute'`
    return (await shop.sql(text)).length
  }
  await expect.poll(isPlanned).toBe(1)
  expect(await findings(shop)).toBe('0')
  await shop.sql('update inventory.levels set on_hand = 6')
  await shop.sql(
    `update cartwright.jobs set due_at = now(), since = now() where handler = 'inventory.check_books'`
  )
  await expect.poll(() => findings(shop)).toBe('2')
  const other = await useShop({ modules: [inventoryModule], databaseUrl: shop.databaseUrl })
  expect(await findings(other)).toBe('2')
  await shop.admin.post(REPAIR)
  expect(await findings(shop)).toBe('0')
})
