import { expect, test } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import {
  bellModule,
  call,
  cast,
  earModule,
  note,
  polish,
  post,
  type Ring,
  useBellDatabase,
  wind
} from '../../../test/support/bells.ts'
import { readExposition } from '../../../test/support/exposition.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { runSql } from '../../../test/support/sql.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import type { Module } from '../../module.ts'
import type { TestShop } from '../../testing.ts'
import { createIdempotentWrite } from '../idempotency/write.ts'
import type { Transaction } from '../postgres/database.ts'
import { databaseUnavailableError } from '../postgres/errors.ts'
import { statement } from '../postgres/statement.ts'

const repeatable = statement({
  name: 'test.bells_repeatable',
  text: 'set transaction isolation level repeatable read'
})
const touch = statement({ name: 'test.bells_touch', text: 'update public.hot set n = n + 1' })

const bell = bellModule()

shareShops()

async function useBells(modules: readonly Module[], databaseUrl?: string) {
  return useShop({
    modules,
    databaseUrl: databaseUrl ?? (await useBellDatabase()),
    runsSchedulesAtStart: true
  })
}

const apiOf = (shop: TestShop<Record<string, never>>) => {
  const api = shop.apiOf(bell)
  if (api === undefined) throw new Error('there is no bell')
  return api
}
type Bells = Awaited<ReturnType<typeof useBells>>
const ring = (shop: Bells, id: string, nth = 1) =>
  shop.db.transaction(async tx => apiOf(shop).ring(tx, id, nth))
const effects = (shop: Bells) => shop.sql('select ear, bell, nth, event from public.effects order by id')
const rows = (shop: Bells) =>
  shop.sql(
    'select handler, subject, attempts, lease, error, due_at from cartwright.jobs where id > 0 order by id'
  )
const allHandled = (shop: Bells) =>
  until('no event or job is left', async () => (await rows(shop)).length === 0)
/** Makes failed jobs due now. The next event wakes their handler. */
const hurry = (shop: Bells) =>
  shop.sql(`update cartwright.jobs set due_at = now() where error is not null and due_at < 'infinity'`)

test('an event reaches each subscribed module once, soon after the commit, with one id', async () => {
  const shop = await useBells([bell, earModule('left'), earModule('right')])
  const id = newId()
  await ring(shop, id, 7)
  await allHandled(shop)
  const heard = await effects(shop)
  expect(heard.map(({ ear }) => ear).sort()).toEqual(['left', 'right'])
  expect(heard[0]).toMatchObject({ bell: id, nth: 7, event: heard[1]?.event })
})

test('event handlers do not run in the asynchronous context of the request that emitted the event', async () => {
  const shop = await useBells([bell, earModule('ear')])
  const { statements, background } = await shop.record(async () => {
    await ring(shop, newId())
    await allHandled(shop)
  })
  expect(statements).toEqual(['outbox.insert_job'])
  expect(background).toContain('test.insert_effects')
})

test('the times of the events in a transaction follow their order, and are equal for every subscriber', async () => {
  const shop = await useBells([bell, earModule('left'), earModule('right')])
  await shop.platform.outbox.stop()
  await shop.db.transaction(async tx => {
    for (const nth of [1, 2, 3]) apiOf(shop).ring(tx, newId(), nth)
  })
  const found = await shop.sql(
    `select (payload->>'nth')::int as nth, (extract(epoch from since - min(since) over ()) * 1000)::int as ms
     from cartwright.jobs where id > 0 order by id`
  )
  expect(found).toEqual([1, 1, 2, 2, 3, 3].map(nth => ({ nth, ms: nth - 1 })))
})

test('a new event of an idle handler is handled without a claim, unless an earlier event of its subject is left', async () => {
  const shop = await useBells([bell, earModule('ear')])
  await shop.sql('create table public.claims (id bigint)')
  await shop.sql(
    `create function public.note_claim() returns trigger language plpgsql as
     $$ begin insert into public.claims values (new.id); return new; end $$`
  )
  await shop.sql(
    `create trigger claims before update on cartwright.jobs
     for each row when (new.id > 0 and new.lease is distinct from old.lease and new.lease is not null) execute function public.note_claim()`
  )
  const claims = async () => (await shop.sql('select from public.claims')).length
  await ring(shop, newId())
  await allHandled(shop)
  expect(await claims()).toBe(0)

  // A transaction with many events leaves them to claims.
  await shop.db.transaction(async tx => {
    for (let nth = 0; nth < 21; nth += 1) apiOf(shop).ring(tx, newId(), nth)
  })
  await allHandled(shop)
  expect(await claims()).toBe(21)
  await shop.sql('truncate public.effects')

  const id = newId()
  // Another process is handling it.
  await shop.sql(
    `insert into cartwright.jobs (handler, subject, event_id, payload, lease, due_at)
     values ('ear:bell.rang', $1, $1, '{}', gen_random_uuid(), 'infinity')`,
    [id]
  )
  await ring(shop, id, 2)
  await ring(shop, newId(), 3)
  await until('the event of the other subject is handled', async () => (await effects(shop)).length === 1)
  expect((await effects(shop)).map(({ nth }) => nth)).toEqual([3])
  expect(await rows(shop)).toMatchObject([{ subject: id }, { subject: id, lease: null, attempts: 0 }])
})

test('emitting an event that has no subscriber creates no job', async () => {
  const shop = await useBells([bell])
  const { statements } = await shop.record(() => ring(shop, newId()))
  expect(statements).toEqual([])
})

test('an event whose payload its subscriber does not want creates no job', async () => {
  const shop = await useBells([bell, earModule('ear', undefined, ({ nth }) => nth > 1)])
  const { statements } = await shop.record(() => ring(shop, newId(), 1))
  expect(statements).toEqual([])
  await ring(shop, newId(), 2)
  await allHandled(shop)
  expect(await effects(shop)).toMatchObject([{ nth: 2 }])
})

test('an event is written once if its transaction commits, however often the transaction was retried', async () => {
  const shop = await useBells([bell, earModule('ear')])
  await shop.sql('create table public.hot (n int); ')
  await shop.sql('insert into public.hot values (0)')
  const [kept, gone, late] = [newId(), newId(), newId()]
  const rolledBack = shop.db.transaction(async tx => {
    apiOf(shop).ring(tx, gone, 1)
    throw new Error('changed my mind')
  })
  await expect(rolledBack).rejects.toThrow('changed my mind')

  let runs = 0
  await shop.db.transaction(async tx => {
    await tx.run(repeatable)
    runs += 1
    apiOf(shop).ring(tx, kept, runs)
    // Another transaction commits after the snapshot, so the first run fails.
    await tx.run(statementOfSnapshot)
    if (runs === 1) await shop.sql('update public.hot set n = n + 1')
    await tx.run(touch)
  })
  expect(runs).toBe(2)
  await shop.db.transaction(async tx => tx.beforeCommit(async () => apiOf(shop).ring(tx, late, 1)))
  await allHandled(shop)
  expect((await effects(shop)).map(({ bell: id, nth }) => [id, nth])).toEqual([
    [kept, 2],
    [late, 1]
  ])
})
const statementOfSnapshot = statement({ name: 'test.bells_snapshot', text: 'select from public.hot' })

test('an event that cannot be written rolls back its transaction', async () => {
  const shop = await useBells([bell, earModule('ear')])
  const notAnId = shop.db.transaction(async tx => apiOf(shop).ring(tx, newId(), 1, 'not an id'))
  await expect(notAnId).rejects.toThrow('invalid input syntax for type uuid')
  await shop.sql('create table public.hot (n int)')
  await shop.sql('insert into public.hot values (0)')
  const afterwards = shop.db.transaction(async tx => {
    await tx.run(touch)
    apiOf(shop).ring(tx, newId(), 1)
    tx.withCommit(async () => apiOf(shop).ring(tx, newId(), 2))
  })
  await expect(afterwards).rejects.toThrow('came after the jobs of its transaction had been sent')
  expect(await shop.sql('select n from public.hot')).toEqual([{ n: 0 }])
  await allHandled(shop)
  expect(await effects(shop)).toEqual([])
})

test('in tests, a payload that does not match the schema of its event is rejected', async () => {
  const shop = await useBells([bell, earModule('ear')])
  await expect(ring(shop, 'not an id')).rejects.toThrow(
    'the payload of bell.rang does not match its declared schema: /bell_id (format)'
  )
  const half = shop.db.transaction(async tx => apiOf(shop).enqueue(tx, polish, {} as { bell_id: string }))
  await expect(half).rejects.toThrow('the payload of bell.polish does not match its declared schema')
})

const insertIf = statement({
  name: 'test.bells_insert_if',
  takes: { fits: 'bool' },
  gives: { n: 'int4' },
  text: 'insert into public.hot (n) select 1 where $fits returning n'
})
test('a conditional write emits its event only if the write was applied', async () => {
  const shop = await useBells([bell, earModule('ear')])
  await shop.sql('create table public.hot (n int)')
  const [held, changed] = [newId(), newId()]
  const writeIf = (fits: boolean, id: string) => {
    const operation = { id, isApplied: false, resultId: null, expectedVersion: null }
    const mark = async (tx: Transaction) => {
      await tx.run(touch)
    }
    return createIdempotentWrite({ ...operation, mark }).onceIfUnchanged(shop.db, async tx => {
      if (tx === undefined) throw new Error('there is a note to make, and no transaction')
      apiOf(shop).ring(tx, id, 1)
      return tx.first(insertIf, { fits })
    })
  }
  expect(await writeIf(false, changed)).toBe(undefined)
  expect(await writeIf(true, held)).toEqual({ n: 1 })
  await allHandled(shop)
  expect((await effects(shop)).map(({ bell: id }) => id)).toEqual([held])
})

test('events of one subject are handled one after another in order, those of different subjects in one batch', async () => {
  const batches: Ring[][] = []
  const ear = earModule('ear', async (tx, events) => {
    batches.push([...events])
    await note(tx, 'ear', events)
  })
  const shop = await useBells([bell, ear])
  const bells = Array.from({ length: 5 }, newId)
  await shop.db.transaction(async tx => {
    for (let nth = 1; nth <= 4; nth += 1) for (const id of bells) apiOf(shop).ring(tx, id, nth)
  })
  await allHandled(shop)
  for (const batch of batches) {
    expect(new Set(batch.map(({ subject }) => subject)).size).toBe(batch.length)
  }
  expect(batches.map(batch => batch.length)).toEqual([5, 5, 5, 5])
  const heard = await effects(shop)
  for (const id of bells)
    expect(heard.filter(each => each.bell === id).map(({ nth }) => nth)).toEqual([1, 2, 3, 4])
})

test("a failing event blocks only its subject, is dead after 10 tries, and is handled after an administrator's retry", async () => {
  const poison = newId()
  let isPoisonous = true
  const sizes: number[] = []
  const ear = earModule('ear', async (tx, events) => {
    sizes.push(events.length)
    if (isPoisonous && events.some(({ subject }) => subject === poison)) throw new Error('inedible')
    await note(tx, 'ear', events)
  })
  const shop = await useBells([bell, ear])
  const others = Array.from({ length: 3 }, newId)
  await shop.db.transaction(async tx => {
    for (const id of [others[0], poison, others[1]]) apiOf(shop).ring(tx, id as string, 1)
    apiOf(shop).ring(tx, poison, 2)
  })
  await until('the attempt has failed', async () => (await rows(shop)).some(({ error }) => error !== null))
  await until('the other events are handled', async () => (await effects(shop)).length === 2)
  // First in one batch, then each alone.
  expect(sizes.slice(0, 4)).toEqual([3, 1, 1, 1])
  expect(await rows(shop)).toMatchObject([
    { subject: poison, error: 'Error: inedible' },
    { subject: poison, error: null, attempts: 0 }
  ])
  await until('the later event of the subject waits as long', async () => {
    const [failed, behind] = await shop.sql(
      'select due_at::text from cartwright.jobs where id > 0 order by id'
    )
    return failed?.due_at === behind?.due_at
  })

  await shop.sql('update cartwright.jobs set attempts = 9 where error is not null')
  await hurry(shop)
  await ring(shop, others[2] as string)
  const due = () =>
    shop.sql(`select due_at = 'infinity' as dead from cartwright.jobs where id > 0 order by id`)
  await until(
    'the event is dead, and later events of its subject are not claimed',
    async () => (await due()).every(({ dead }) => dead),
    30_000
  )
  expect(shop.log.filter(line => line.includes('event is dead'))).toHaveLength(1)
  const { deliveries } = consoleOf(shop)
  const [dead] = (await deliveries.list('dead', {})).items
  expect(dead).toMatchObject({ handler: 'ear:bell.rang', subject: poison, attempts: 10, due_at: null })
  expect((await deliveries.list('failing', {})).items).toEqual([])
  expect((await deliveries.list('pending', { count: true })).total).toBeGreaterThan(0)

  isPoisonous = false
  const id = dead?.id as number
  expect(await shop.db.transaction(tx => deliveries.retry(tx, id))).toBe(true)
  await allHandled(shop)
  expect((await effects(shop)).filter(each => each.bell === poison).map(({ nth }) => nth)).toEqual([1, 2])
  expect(await shop.db.transaction(tx => deliveries.retry(tx, id))).toBe(false)
  expect(await shop.db.transaction(tx => deliveries.discard(tx, id))).toBe(false)
})

const consoleOf = (shop: Bells) => ({ deliveries: shop.platform.outbox.console })

test('after a failing event is discarded, the later events of its subject are handled', async () => {
  const ear = earModule('ear', async (tx, events) => {
    if (events.some(({ payload }) => payload.nth === 1)) throw new Error('not the first')
    await note(tx, 'ear', events)
  })
  const shop = await useBells([bell, ear])
  const id = newId()
  await shop.db.transaction(async tx => {
    for (const nth of [1, 2, 3]) apiOf(shop).ring(tx, id, nth)
  })
  await until('the attempt has failed', async () => (await rows(shop)).some(({ error }) => error !== null))
  const { deliveries } = consoleOf(shop)
  const [failing] = (await deliveries.list('failing', {})).items
  expect(await shop.db.transaction(tx => deliveries.discard(tx, failing?.id as number))).toBe(true)
  await allHandled(shop)
  expect((await effects(shop)).map(({ nth }) => nth)).toEqual([2, 3])
})

test('a slow event handler does not delay other handlers', async () => {
  const slow = Promise.withResolvers<void>()
  const waiting = earModule('slow', () => slow.promise)
  const shop = await useBells([bell, waiting, earModule('quick')])
  await ring(shop, newId(), 1)
  await until('the quick handler has handled the first event', async () => (await effects(shop)).length === 1)
  await ring(shop, newId(), 2)
  await until(
    'the quick handler has handled the second event',
    async () => (await effects(shop)).length === 2
  )
  expect((await rows(shop)).map(({ handler }) => handler)).toEqual(['slow:bell.rang', 'slow:bell.rang'])
  slow.resolve()
  await allHandled(shop)
})

test('a try of an event handler that fails because the database is unavailable is not counted', async () => {
  let isAvailable = false
  let tries = 0
  const ear = earModule('ear', async (tx, events) => {
    tries += 1
    if (!isAvailable) throw databaseUnavailableError()
    await note(tx, 'ear', events)
  })
  const shop = await useBells([bell, ear])
  await ring(shop, newId())
  let released: Awaited<ReturnType<typeof rows>>[number] | undefined
  await until('the job is released after a try', async () => {
    if (tries > 0) released = (await rows(shop)).find(({ lease }) => lease === null)
    return released !== undefined
  })
  expect(released).toMatchObject({ attempts: 0, error: null })
  isAvailable = true
  await allHandled(shop)
  expect(await effects(shop)).toHaveLength(1)
})

test("an event handler's run whose lease was lost is rolled back", async () => {
  let shop: Bells | undefined
  let tries = 0
  const ear = earModule('ear', async (tx, events) => {
    tries += 1
    await note(tx, 'ear', events)
    if (tries === 1) await shop?.sql(`update cartwright.jobs set lease = gen_random_uuid(), due_at = now()`)
  })
  shop = await useBells([bell, ear])
  await ring(shop, newId())
  await allHandled(shop)
  expect(tries).toBe(2)
  expect(await effects(shop)).toHaveLength(1)
})

test('two processes share the handling of events, and each event is handled once', async () => {
  const modules = [bell, earModule('left'), earModule('right')]
  const one = await useBells(modules)
  const two = await useBells(modules, one.databaseUrl)
  const bells = Array.from({ length: 40 }, newId)
  const ringAll = (shop: Bells, from: number) =>
    Promise.all(bells.map((id, index) => ring(shop, id, from + (index % 2))))
  await Promise.all([ringAll(one, 0), ringAll(two, 2), ringAll(one, 4)])
  await allHandled(one)
  const heard = await effects(one)
  expect(heard).toHaveLength(2 * 3 * bells.length)
  expect(new Set(heard.map(({ ear, event }) => `${ear} ${event}`)).size).toBe(heard.length)
})

test('an event whose process died while handling it is retried alone, and is dead after 10 tries', async () => {
  const sizes: number[] = []
  const ear = earModule('ear', async (tx, events) => {
    sizes.push(events.length)
    await note(tx, 'ear', events)
  })
  const shop = await useBells([bell, ear])
  // As a process leaves them when it dies while handling them, one of them for the tenth time.
  const abandoned = `
    insert into cartwright.jobs (handler, subject, event_id, payload, attempts, lease)
    select 'ear:bell.rang', gen_random_uuid(), gen_random_uuid(), '{"bell_id": "${newId()}", "nth": 1}',
      case when n = 1 then 10 else 1 end, gen_random_uuid() from generate_series(1, 5) n`
  await shop.sql(abandoned)
  await until('four events are handled', async () => (await effects(shop)).length === 4)
  expect(sizes).toEqual([1, 1, 1, 1])
  expect(await rows(shop)).toMatchObject([{ error: expect.stringContaining('process ended') }])
  expect((await consoleOf(shop).deliveries.list('dead', {})).items).toHaveLength(1)
})

test('a job runs once, is retried with the same id after a failure, and is released when the process stops', async () => {
  const [once, twice, never] = [newId(), newId(), newId()]
  const done: string[] = []
  const running = Promise.withResolvers<void>()
  const keys = new Set<string>()
  const jobs = bellModule({
    polish: async ({ id, payload }, signal) => {
      const before = done.filter(each => each === payload.bell_id).length
      done.push(payload.bell_id)
      if (payload.bell_id === twice) keys.add(id)
      if (payload.bell_id === twice && before === 0) throw new Error('no polish left')
      if (payload.bell_id !== never) return
      running.resolve()
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
    }
  })
  const shop = await useBells([jobs])
  const enqueue = (bell_id: string) =>
    shop.db.transaction(async tx => apiOf(shop).enqueue(tx, polish, { bell_id }))
  await enqueue(once)
  await enqueue(twice)
  await until('one job has failed', async () => (await rows(shop)).some(({ error }) => error !== null))
  await allHandled(shop)
  expect(done).toEqual([once, twice, twice])
  expect(keys.size).toBe(1)

  await enqueue(never)
  await running.promise
  await shop.platform.outbox.stop()
  expect(await rows(shop)).toMatchObject([{ attempts: 0, lease: null, error: null }])
})

test('slow jobs, and jobs that call an external service, do not delay quick jobs', async () => {
  const end = Promise.withResolvers<void>()
  const polished = Promise.withResolvers<void>()
  const begun = { call: Promise.withResolvers<void>(), cast: Promise.withResolvers<void>() }
  const waits = (name: keyof typeof begun) => () => {
    begun[name].resolve()
    return end.promise
  }
  const polishing = async () => polished.resolve()
  const shop = await useBells([bellModule({ call: waits('call'), cast: waits('cast'), polish: polishing })])
  const enqueue = (type: typeof call | typeof cast) =>
    shop.db.transaction(async tx => apiOf(shop).enqueue(tx, type, {}))
  await Promise.all([enqueue(call), enqueue(cast), begun.call.promise, begun.cast.promise])
  await shop.db.transaction(async tx => apiOf(shop).enqueue(tx, polish, { bell_id: newId() }))
  await polished.promise
  end.resolve()
  await allHandled(shop)
})

test('a job type runs at its configured concurrency, each job once, and does not delay other job types', async () => {
  const end = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  const running = { now: 0, most: 0 }
  const done: string[] = []
  const posting = async ({ id }: { id: string }) => {
    running.now += 1
    running.most = Math.max(running.most, running.now)
    await end.promise
    running.now -= 1
    done.push(id)
  }
  const shop = await useBells([bellModule({ post: posting, call: async () => called.resolve() })])
  await shop.db.transaction(async tx => {
    for (let nth = 0; nth < 8; nth += 1) apiOf(shop).enqueue(tx, post, {})
  })
  await until('three jobs are running', async () => running.now === 3)
  await shop.db.transaction(async tx => apiOf(shop).enqueue(tx, call, {}))
  await called.promise
  end.resolve()
  await allHandled(shop)
  expect([running.most, new Set(done).size, done.length]).toEqual([3, 8, 8])
})

test('a job that exceeds its timeout fails, and a delayed job is not started early', async () => {
  const jobs = bellModule({ polish: () => new Promise(() => {}) })
  const shop = await useBells([jobs])
  await shop.db.transaction(async tx => {
    apiOf(shop).enqueue(tx, polish, { bell_id: newId() })
    apiOf(shop).enqueue(tx, polish, { bell_id: newId() }, { delaySeconds: 3_600 })
  })
  await until('the attempt has failed', async () => (await rows(shop))[0]?.error !== null)
  expect(await rows(shop)).toMatchObject([
    { error: expect.stringContaining('TimeoutError') },
    { error: null, attempts: 0 }
  ])
})

test('a schedule in two processes runs once, and its next run is planned', async () => {
  let runs = 0
  const clock = bellModule({
    wind: async () => {
      runs += 1
    }
  })
  const one = await useBells([clock])
  const two = await useBells([clock], one.databaseUrl)
  const plan = () =>
    one.sql(`
      select attempts, lease, extract(epoch from due_at - now())::int as seconds from cartwright.jobs where id = 0`)
  await until('the schedule has run', async () => ((await plan())[0]?.seconds as number) > 3_000)
  expect(await plan()).toMatchObject([{ attempts: 0, lease: null }])
  expect(runs).toBe(1)
  await one.sql('update cartwright.jobs set due_at = now()')
  await until('the schedule has run again', () => runs === 2)
  await until('the next run is planned', async () => ((await plan())[0]?.seconds as number) > 3_000)
  await two.platform.outbox.stop()
  expect(runs).toBe(2)
})

test('an enqueued job of a schedule runs immediately and leaves the planned run unchanged', async () => {
  let runs = 0
  let isKeyLost = false
  const clock = bellModule({
    wind: async () => {
      runs += 1
      if (!isKeyLost) return
      isKeyLost = false
      throw new Error('no key')
    }
  })
  const shop = await useBells([clock])
  const plan = () => shop.sql('select due_at, event_id from cartwright.jobs where id = 0')
  await until('the next run is planned', async () => {
    const [planned] = await shop.sql(
      `select from cartwright.jobs
      where id = 0 and due_at > now() + interval '1 minute' and lease is null and error is null`
    )
    return planned !== undefined
  })
  const planned = await plan()
  const before = runs
  isKeyLost = true
  await shop.db.transaction(async tx => apiOf(shop).enqueue(tx, wind, {}))
  await allHandled(shop)
  expect(runs).toBe(before + 2)
  expect(await plan()).toEqual(planned)
})

test('one process of the shop reports pending events, dead events and the age of the oldest in /metrics', async () => {
  const databaseUrl = await useBellDatabase()
  await runSql(
    databaseUrl,
    `insert into cartwright.jobs (handler, subject, event_id, payload, since, due_at, error)
     select 'gone:bell.rang', gen_random_uuid(), gen_random_uuid(), '{}', now() - make_interval(mins => n),
       case when n = 1 then 'infinity' else now() end::timestamptz, case when n = 1 then 'broken' end
     from generate_series(1, 3) n`
  )
  const open = () => useShop({ modules: [bell], databaseUrl })
  const shops = [await open(), await open(), await open()]
  const figures = (name: string) =>
    Promise.all(
      shops.map(async shop => {
        const { families } = readExposition((await shop.request('GET', '/metrics')).text)
        const family = families.get(`cartwright_events_${name}`)
        expect(family?.type).toBe('gauge')
        return family?.samples[0]?.value ?? 0
      })
    )
  const sorted = async (name: string) => (await figures(name)).sort((a, b) => a - b)
  await until('the backlog is measured', async () => (await sorted('pending')).at(-1) === 2)
  expect(await sorted('pending')).toEqual([0, 0, 2])
  expect(await sorted('dead')).toEqual([0, 0, 1])
  const [, , oldest] = await sorted('oldest_seconds')
  expect(oldest).toBeGreaterThanOrEqual(180)
  expect(oldest).toBeLessThan(600)

  const first = (await figures('pending')).indexOf(2)
  await shops[first]?.platform.outbox.stop()
  await until('another process measures when the first has stopped', async () =>
    (await figures('pending')).some((each, index) => index !== first && each === 2)
  )
})
