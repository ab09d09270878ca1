import { expect, test } from 'vitest'
import { createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { startOldVariantNameCleanup } from './service.ts'

test('names of deleted variants are deleted after a year, a thousand at a time', async () => {
  const app = await useCatalog()
  const { id, variants } = await createProduct(app)
  await app.request('DELETE', `/api/catalog/products/${id}`, { token: 'admin' })
  await runSql(
    app.databaseUrl,
    `insert into catalog.gone_variants (id, name, gone_at)
     select gen_random_uuid(), 'Old', now() - interval '366 days' from generate_series(1, 1001)
     union all select gen_random_uuid(), 'Young', now() - interval '364 days'`
  )
  const works: (() => Promise<number>)[] = []
  startOldVariantNameCleanup(
    { untilEmpty: (_seconds, _name, work) => void works.push(work) },
    app.platform.db
  )
  const [forget = async () => Number.NaN] = works
  expect([await forget(), await forget(), await forget()]).toEqual([1_000, 1, 0])
  const kept = await runSql(app.databaseUrl, 'select name from catalog.gone_variants order by name')
  expect(kept).toHaveLength(2)
  expect(kept).toContainEqual({ name: 'Young' })
  expect(await app.catalog.names([variants[0].id])).not.toEqual([null])
})

test('the timer finds old names of deleted variants by an index', async () => {
  const app = await useCatalog()
  await runSql(
    app.databaseUrl,
    `insert into catalog.gone_variants (id, name) select gen_random_uuid(), 'New' from generate_series(1, 20000)`
  )
  await runSql(app.databaseUrl, 'analyze catalog.gone_variants')
  const plan = await runSql(
    app.databaseUrl,
    `explain select id from catalog.gone_variants where gone_at <= now() - make_interval(days => 365)
     order by gone_at limit 1000 for update skip locked`
  )
  const lines = plan.map(row => row['QUERY PLAN']).join('\n')
  expect(lines).toContain('gone_variants_gone_at')
  expect(lines).not.toContain('Seq Scan')
})
