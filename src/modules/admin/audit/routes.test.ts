import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { HIGHEST_ID, newId } from '../../../kernel/ids.ts'
import { LATEST_MICROSECOND } from '../../../kernel/pages.ts'
import { admin, fakeAuth } from '../../../testing.ts'
import { adminModule } from '../index.ts'

const ADA = admin()
const BOB = admin()
const MANY = 20_000

async function useAudit() {
  const auth = fakeAuth()
  auth.addContact({ id: ADA.id, email: 'ada@example.com' })
  const shop = await useShop({ modules: [adminModule], instead: { auth } })
  const list = async (query = '') => (await shop.as(ADA).get(`/api/admin/audit${query}`)).json
  return { shop, list }
}

test('audit entries are found by actor, route, object id and time', async () => {
  const { shop, list } = await useAudit()
  const [order, made] = [newId(), newId()]
  const cancel = '/api/admin/orders/:id/cancel'
  const row = 'insert into cartwright.audit (id, at, actor, method, route, params, request_id, status) values'
  await shop.sql(`${row} ($1, '2026-03-01T08:00:00.123456Z', $2, 'POST', $3, $4, 'r1', 200)`, [
    ...[newId(), ADA.id, cancel],
    JSON.stringify({ id: order })
  ])
  await shop.sql(
    `${row} ($1, '2026-03-01T08:00:00.123457Z', $2, 'POST', '/api/catalog/products', '{}', 'r2', null)`,
    [made, BOB.id]
  )
  const { items, total } = await list('?count=true')
  expect(total).toBe(2)
  expect(items).toEqual([
    expect.objectContaining({ id: made, actor: BOB.id, actor_email: null, status: null }),
    expect.objectContaining({
      actor: ADA.id,
      actor_email: 'ada@example.com',
      method: 'POST',
      route: cancel,
      params: { id: order },
      request_id: 'r1',
      status: 200,
      at: '2026-03-01T08:00:00.123Z'
    })
  ])
  const requests = async (query: string) =>
    (await list(query)).items.map(({ request_id }: { request_id: string }) => request_id)
  expect(await requests(`?actor=${BOB.id}`)).toEqual(['r2'])
  expect(await requests(`?route=${encodeURIComponent(cancel)}`)).toEqual(['r1'])
  expect(await requests(`?id=${order}`)).toEqual(['r1'])
  expect(await requests(`?id=${made}`)).toEqual(['r2'])
  expect(await requests(`?id=${newId()}`)).toEqual([])
  expect(await requests('?since=2026-03-01T08:00:00.124Z')).toEqual([])
  expect(await requests('?until=2026-03-01T08:00:00Z')).toEqual([])
  expect(await requests('?since=2026-03-01T08:00:00Z&until=2026-03-01T08:00:01Z')).toEqual(['r2', 'r1'])

  // The entries differ by a microsecond, which the cursor must preserve.
  const first = await list('?limit=1')
  const second = await list(`?limit=1&cursor=${first.next_cursor}`)
  expect([...first.items, ...second.items].map(({ request_id }) => request_id)).toEqual(['r2', 'r1'])
  expect(second.next_cursor).toBeNull()
  expect((await shop.as(ADA).get('/api/admin/audit?since=yesterday')).status).toBe(400)
})

test(`each filter of the audit log uses an index on ${MANY} entries`, async () => {
  const { shop } = await useAudit()
  await shop.sql(
    `insert into cartwright.audit (id, at, actor, method, route, params, request_id, status)
     select cartwright.first_id_at(now() - n * interval '1 minute'), now() - n * interval '1 minute', gen_random_uuid(),
       'POST', '/api/' || n,
       jsonb_build_object('id', gen_random_uuid()), 'r', 200 from generate_series(1, ${MANY}) n`
  )
  await shop.sql('analyze cartwright.audit')
  const { listDeclaredStatements } = await import('../../../platform/postgres/statement.ts')
  const [statement] = listDeclaredStatements().filter(({ name }) => name === 'audit.list_entries')
  const { takes = {}, text = '' } = statement ?? {}
  const start = { before: LATEST_MICROSECOND, after: HIGHEST_ID, limit: 21 }
  for (const filter of [
    ...[{}, { actor: newId() }, { route: '/api/77' }, { id: newId() }],
    ...[{ since: new Date(Date.now() - 300_000) }, { until: new Date(Date.now() - 60_000 * (MANY - 5)) }]
  ]) {
    const given: Record<string, unknown> = { ...start, ...filter }
    const values = Object.keys(takes).map(name => given[name] ?? null)
    const plan = (await shop.sql(`explain analyze ${text}`, values)).map(row => row['QUERY PLAN']).join('\n')
    const removed = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, rows]) => Number(rows))
    expect(Math.max(0, ...removed), `${JSON.stringify(filter)}\n${plan}`).toBeLessThan(1_000)
    // An empty partition may be scanned.
    expect(plan, JSON.stringify(filter)).not.toMatch(/Seq Scan on .*actual time=\S+ rows=(?!0\b|0\.00)/)
  }
})
