import { expect, onTestFinished, test } from 'vitest'
import { catalogModule } from '../../../src/modules/catalog/index.ts'
import { inventoryModule } from '../../../src/modules/inventory/index.ts'
import { pricingModule } from '../../../src/modules/pricing/index.ts'
import { admin, openTestShop, type TestShop } from '../../../src/testing.ts'
import { createProduct } from '../../support/catalog.ts'
import { type TestCluster, usePrimaryAndStandby } from '../../support/standby.ts'
import { until } from '../until.ts'

/** Other processes show a change within a second. The rest is for a busy machine. */
const FRESH_MS_MAX = 1_000 + 4_000
/** Transactions of the old primary that the standby never gets, so that its ids are lower for a long time. */
const LOST_TRANSACTIONS = 50
const SETTINGS = { CARTWRIGHT__LOG__LEVEL: 'silent' }

async function openProcess(clusters: readonly TestCluster[]): Promise<TestShop> {
  const hosts = clusters.map(({ host }) => host).join(',')
  const shop = await openTestShop({
    databaseUrl: `postgres://cartwright@${hosts}/shop?target_session_attrs=read-write`,
    modules: [pricingModule, inventoryModule, catalogModule],
    settings: SETTINGS
  })
  onTestFinished(shop.close)
  return shop
}

const revisionOf = async (cluster: TestCluster) =>
  (await cluster.sql('select value::int as value from catalog.revision'))[0]?.value

/** Stops the replication once the standby has everything. */
async function stopReplication(primary: TestCluster): Promise<void> {
  const behind = 'select 1 from pg_stat_replication where replay_lsn < pg_current_wal_lsn()'
  await until('the standby has everything', async () => (await primary.sql(behind)).length === 0)
  for (const { pid } of await primary.sql('select pid from pg_stat_replication'))
    process.kill(Number(pid), 'SIGSTOP')
}

test('after a failover that lost changes no process shows them, and none misses a later change', {
  timeout: 120_000
}, async () => {
  const { primary, standby } = await usePrimaryAndStandby()
  const processes = [await openProcess([primary, standby]), await openProcess([primary, standby])]
  const [writer] = processes as [TestShop]
  const product = await createProduct(writer, { name: 'Cup' })
  const variantId: string = product.variants[0].id
  const change = async (name: string, onHand: number) => {
    const staff = writer.as(admin())
    expect((await staff.patch(`/api/catalog/products/${product.id}`, { name })).status).toBe(200)
    const counted = await staff.put(`/api/inventory/levels/${variantId}`, { on_hand: onHand })
    expect(counted.status, counted.text).toBe(200)
  }
  const show = (shop: TestShop, name: string, stock: number) => async () => {
    const page = await shop.request('GET', `/api/products/${product.id}`)
    const available = await shop.request('GET', `/api/inventory/availability?variant_ids=${variantId}`)
    return page.json.name === name && available.json.items[0].available === stock
  }
  const allShow = async (name: string, stock: number) => {
    for (const [at, shop] of processes.entries())
      await until(`process ${at} shows ${name}, ${stock}`, show(shop, name, stock), FRESH_MS_MAX)
  }
  await change('Cup', 9)
  await allShow('Cup', 9)

  await stopReplication(primary)
  await change('Lost cup', 5)
  await allShow('Lost cup', 5)
  const lostRevision = await revisionOf(primary)
  const burn = `do $$ begin for i in 1..${LOST_TRANSACTIONS} loop perform pg_current_xact_id(); commit; end loop; end $$`
  await primary.sql(burn)
  await allShow('Lost cup', 5)
  primary.signal('SIGKILL')
  await standby.sql('select pg_promote()')

  await until('all processes show what the new primary has', async () => {
    for (const shop of processes) if (!(await show(shop, 'Cup', 9)())) return false
    return true
  })
  await change('New cup', 7)
  expect(await revisionOf(standby)).toBe(lostRevision)
  await allShow('New cup', 7)
  await change('Newer cup', 6)
  await allShow('Newer cup', 6)
})
