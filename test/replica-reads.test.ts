import { expect, test } from 'vitest'
import { defineEvent, defineJob } from '../src/kernel/events.ts'
import { newId } from '../src/kernel/ids.ts'
import { defineModule } from '../src/module.ts'
import { statement } from '../src/platform/postgres/statement.ts'
import { openTestShop } from '../src/testing.ts'
import { useTestDatabaseUrl } from './support/database.ts'
import { needsOwnShop, shareShops } from './support/shared-shops.ts'

shareShops()

const text = 'select 1 as total'
const gives = { total: 'int4' } as const
const countOnReplica = statement({ name: 'counts.count', slow: true, gives, text })
const countOnPrimary = statement({
  name: 'counts.count_on_primary',
  slow: true,
  primaryOnly: true,
  gives,
  text
})
const recount = defineJob('counts.recount', { description: 'Counts.', timeoutSeconds: 10 }, {})
const counted = defineEvent('counts.counted', { description: 'Counted.', subject: 'nothing' }, {})
const noReplay = 'It changes nothing.'

async function useShop() {
  const handled = Promise.withResolvers<void>()
  const counts = defineModule({
    name: 'counts',
    description: 'Counts.',
    basePaths: ['/api/counts'],
    requires: {},
    uses: {},
    jobs: [recount],
    emits: [counted],
    subscribes: [counted],
    setup: async ({ db, emit, enqueue }) => {
      const write = () => db.transaction(tx => tx.rows(countOnReplica))
      const works = {
        'reads-and-writes': async () => {
          await db.rows(countOnReplica)
          await write()
        },
        'reads-the-primary': async () => {
          await db.rows(countOnPrimary)
          await write()
        },
        'reads-in-the-transaction': write,
        'writes-and-reads': async () => {
          await write()
          await db.rows(countOnReplica)
        },
        'enqueues-a-job': () => db.transaction(async tx => enqueue(tx, recount, {})),
        'emits-an-event': () => db.transaction(async tx => emit(tx, counted, newId(), {}))
      }
      const handle = async () => {
        await works['reads-and-writes']()
        handled.resolve()
      }
      return {
        api: {},
        routes: tiers => {
          for (const [name, work] of Object.entries(works))
            tiers.public.post(`/counts/${name}`, { config: { class: 'browse', noReplay } }, async () => {
              await work()
              return {}
            })
        },
        jobHandlers: { [recount.name]: handle },
        eventHandlers: { [counted.name]: async () => handle }
      }
    }
  })
  return {
    ...(await openTestShop({ databaseUrl: await useTestDatabaseUrl(), modules: [counts] })),
    isHandled: handled.promise
  }
}

test.each([
  ['reads-and-writes', 'POST /api/counts/reads-and-writes reads counts.count, and writes afterwards'],
  ['enqueues-a-job', 'counts.recount reads counts.count, and writes afterwards'],
  ['emits-an-event', 'counts:counts.counted reads counts.count, and writes afterwards']
])('a test of a module fails when rows of a replica may decide a write: %s', async (name, problem) => {
  // A job that it leaves would run in the shop of another test.
  if (name !== 'reads-and-writes') needsOwnShop()
  const shop = await useShop()
  expect((await shop.as(null).post(`/api/counts/${name}`, {})).status).toBe(200)
  if (name !== 'reads-and-writes') await shop.isHandled
  await expect(shop.close()).rejects.toThrow(problem)
})

test.each(['reads-the-primary', 'reads-in-the-transaction', 'writes-and-reads'])(
  'a test of a module accepts a request that %s',
  async name => {
    const shop = await useShop()
    expect((await shop.as(null).post(`/api/counts/${name}`, {})).status).toBe(200)
    await shop.close()
  }
)
