import { expect, test } from 'vitest'
import { useShipping } from '../../../../test/support/shipping.ts'
import { HIGHEST_ID } from '../../../kernel/ids.ts'
import { listShipments } from './repository.ts'

const MANY = 100_000
const SHEETS = 200
type Shop = Awaited<ReturnType<typeof useShipping>>

/** This many shipments, one per second. Every second one is shipped, some of them at the same time. */
const fill = (shop: Shop, many: number) =>
  shop.sql(
    `insert into shipping.shipments
       (id, order_id, group_key, method, option_id, service, status, created_at, sent_at, lines)
     select gen_random_uuid(), gen_random_uuid(), 'goods', 'shipping', 'x', 'Post',
       case when n % 2 = 0 then 'pending' when n % 1000 = 1 then 'returned' else 'in_transit' end,
       timestamptz '2026-01-01T00:00:00.000123Z' + n * interval '1 second',
       case when n % 2 = 1 then timestamptz '2026-11-05T08:00:00Z' + n / 7 * interval '1 microsecond' end, '[]'
     from generate_series(1, $1::int) n`,
    [many]
  )

test(`each page of a list of ${MANY} shipments costs the same number of database buffers`, async () => {
  const shop = await useShipping()
  await fill(shop, MANY)
  await shop.sql('analyze shipping.shipments')
  const buffersOf = async (given: Record<string, unknown>) => {
    const values = Object.keys(listShipments.takes).map(name => given[name] ?? null)
    const plan = (await shop.sql(`explain (analyze, buffers) ${listShipments.text}`, values))
      .map(row => row['QUERY PLAN'])
      .join('\n')
    expect(plan).not.toContain('Sort')
    return Number(/Buffers: shared(?: hit=(\d+))?/.exec(plan)?.[1] ?? 0)
  }
  const at = (second: number) => Date.UTC(2026, 0, 1) * 1000 + second * 1_000_000
  for (const filter of [
    {},
    { status: 'pending' },
    { status: 'returned' },
    { since: new Date(Date.UTC(2026, 0, 1)) }
  ]) {
    const page = { ...filter, id: HIGHEST_ID, limit: 21 }
    for (const place of [MANY + 1, MANY / 2, 50]) {
      const buffers = await buffersOf({ ...page, at: at(place) })
      expect(buffers, JSON.stringify({ ...filter, place })).toBeLessThan(400)
    }
  }
})

test('the pages of the shipment list contain each shipment once, also with equal times', async () => {
  const shop = await useShipping()
  await fill(shop, 90)
  await shop.sql(`update shipping.shipments set created_at = date_trunc('minute', created_at)
    where lines = '[]' and extract(second from created_at) < 30`)
  const wanted = await shop.sql('select id from shipping.shipments order by created_at desc, id desc')
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/api/admin/shipping/shipments?limit=7${cursor && `&cursor=${cursor}`}`
    const { items, next_cursor }: { items: { id: string }[]; next_cursor: string | null } = (
      await shop.admin.get(path)
    ).json
    seen.push(...items.map(({ id }) => id))
    cursor = next_cursor
  }
  expect(seen).toEqual(wanted.map(({ id }) => id))
})

test('packing slips are printed in pages that link to the next one', async () => {
  const shop = await useShipping()
  await fill(shop, SHEETS * 4 + 2)
  const bySelf = { waiting: 'sent_at is null', sent: 'sent_at is not null' }
  for (const [query, where] of [
    ['', bySelf.waiting],
    ['?day=2026-11-05', bySelf.sent]
  ]) {
    const seen: string[] = []
    const sheets: number[] = []
    for (let path: string | undefined = `/api/admin/shipping/packing-slips${query}`; path !== undefined; ) {
      const { status, text, headers } = await shop.admin.get(path)
      expect(status, text).toBe(200)
      const orders = [...text.matchAll(/<h1>([0-9a-f-]{36})<\/h1>/g)].map(([, id]) => String(id))
      seen.push(...orders)
      sheets.push(orders.length)
      path = /^<(.*)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1]
      expect(text.includes('More parcels follow')).toBe(path !== undefined)
    }
    expect(sheets).toEqual([SHEETS, SHEETS, 1])
    const wanted = await shop.sql(`select order_id from shipping.shipments where ${where}`)
    expect(seen.toSorted()).toEqual(wanted.map(({ order_id }) => String(order_id)).sort())
  }
  const { status, json } = await shop.admin.get('/api/admin/shipping/packing-slips?cursor=x')
  expect([status, json.code]).toEqual([400, 'INVALID_CURSOR'])
})
