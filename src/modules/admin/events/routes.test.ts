import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { bellModule, CREATE_EFFECTS, earModule, note } from '../../../../test/support/bells.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { admin } from '../../../testing.ts'
import { adminModule } from '../index.ts'

const bell = bellModule()

/** A shop with a module whose event handler fails until it is repaired. */
async function useFailingHandler() {
  let isBroken = true
  const ear = earModule('ear', async (tx, events) => {
    if (isBroken) throw new Error('the ear is broken')
    await note(tx, 'ear', events)
  })
  const shop = await useShop({ modules: [adminModule, bell, ear] })
  await shop.sql(CREATE_EFFECTS)
  const ring = (id: string, nth: number) =>
    shop.db.transaction(async tx => shop.apiOf(bell)?.ring(tx, id, nth))
  /** Emits two events of one subject. The first is dead, and the second waits for it. */
  const emitDeadEvent = async () => {
    const id = newId()
    await ring(id, 1)
    await ring(id, 2)
    const rows = () => shop.sql('select id, error from cartwright.jobs where subject = $1 order by id', [id])
    await until('the first event has failed', async () => (await rows())[0]?.error !== null)
    await shop.sql(
      `update cartwright.jobs set due_at = 'infinity', attempts = 10, lease = null, error = coalesce(error, 'Error')
       where id = $1`,
      [(await rows())[0]?.id]
    )
    return id
  }
  return {
    shop,
    api: shop.as(admin()),
    emitDeadEvent,
    repair: () => {
      isBroken = false
    },
    handled: async (id: string) =>
      (await shop.sql('select nth from public.effects where bell = $1 order by nth', [id])).map(
        ({ nth }) => nth
      )
  }
}

test('administrators list dead events and retry one of them', async () => {
  const { shop, api, emitDeadEvent, repair, handled } = await useFailingHandler()
  const id = await emitDeadEvent()
  const { json } = await api.get('/api/admin/events?count=true')
  expect(json).toMatchObject({
    total: 1,
    next_cursor: null,
    items: [
      {
        handler: 'ear:bell.rang',
        subject: id,
        payload: { bell_id: id, nth: 1 },
        attempts: 10,
        error: 'Error: the ear is broken',
        due_at: null
      }
    ]
  })
  const [dead] = json.items
  repair()
  const key = { 'idempotency-key': newId() }
  for (let time = 0; time < 2; time += 1)
    expect((await api.post(`/api/admin/events/${dead.id}/retry`, undefined, key)).status).toBe(204)
  await until('both events are handled', async () => (await handled(id)).length === 2)
  expect((await api.get('/api/admin/events')).json.items).toEqual([])
  const gone = await api.post(`/api/admin/events/${dead.id}/retry`)
  expect(gone).toMatchObject({ status: 404, json: { code: 'ADMIN_EVENT_NOT_FOUND' } })
  const audit = await shop.sql('select route, params, status from cartwright.audit order by at')
  expect(audit[0]).toMatchObject({ route: '/api/admin/events/:id/retry', status: 204 })
})

test('a discarded event is not handled, the next event of its subject is, and the reason is logged', async () => {
  const { shop, api, emitDeadEvent, repair, handled } = await useFailingHandler()
  const id = await emitDeadEvent()
  const [dead] = (await api.get('/api/admin/events?state=dead')).json.items
  repair()
  expect((await api.post(`/api/admin/events/${dead.id}/discard`)).status).toBe(400)
  const reason = 'the bell was sold'
  expect((await api.post(`/api/admin/events/${dead.id}/discard`, { reason })).status).toBe(204)
  await until('the second event is handled', async () => (await handled(id)).length === 1)
  expect(await handled(id)).toEqual([2])
  expect(shop.log.filter(line => line.includes(reason))).toHaveLength(1)
})

test('events in the administration are listed by state, page by page', async () => {
  const { shop, api } = await useFailingHandler()
  await shop.sql(`
    insert into cartwright.jobs (handler, subject, event_id, payload, due_at, attempts, error)
    select 'gone:bell.rang', gen_random_uuid(), gen_random_uuid(), '{}', case when n <= 5 then 'infinity' else now() end,
      n, case when n <= 7 then 'broken' end
    from generate_series(1, 9) n`)
  const attempts: number[] = []
  let cursor = ''
  for (let page = 0; page < 3; page += 1) {
    const { json } = await api.get(`/api/admin/events?limit=2${cursor}`)
    attempts.push(...json.items.map((item: { attempts: number }) => item.attempts))
    cursor = `&cursor=${json.next_cursor}`
  }
  expect(attempts).toEqual([1, 2, 3, 4, 5])
  const attemptsIn = async (state: string) => {
    const { json } = await api.get(`/api/admin/events?state=${state}&count=true`)
    expect(json.total).toBe(json.items.length)
    return json.items.map((item: { attempts: number }) => item.attempts)
  }
  expect(await attemptsIn('failing')).toEqual([6, 7])
  // The recurring job of the bell module is pending, too.
  expect((await attemptsIn('pending')).filter((each: number) => each > 1)).toEqual([8, 9])
  for (const id of ['0', '-1', 'x', '1e99', '9007199254740993'])
    expect((await api.post(`/api/admin/events/${id}/retry`)).status).toBe(400)
})

test('the backlog of events is summarized by handler, and all dead events are retried in one request', async () => {
  const { api, emitDeadEvent, repair, handled } = await useFailingHandler()
  const bells = [await emitDeadEvent(), await emitDeadEvent()]
  const { handlers, schedules } = (await api.get('/api/admin/events/summary')).json
  expect(handlers).toEqual([
    expect.objectContaining({ handler: 'ear:bell.rang', dead: 2, latest_error: 'Error: the ear is broken' })
  ])
  expect(handlers[0].pending + handlers[0].failing).toBe(2)
  expect(schedules).toContainEqual(expect.objectContaining({ handler: 'bell.wind', error: null }))
  const totalOf = async (handler: string) =>
    (await api.get(`/api/admin/events?handler=${handler}&count=true`)).json.total
  expect([await totalOf('ear:bell.rang'), await totalOf('nose:bell.rang')]).toEqual([2, 0])

  repair()
  const key = { 'idempotency-key': newId() }
  for (let time = 0; time < 2; time += 1)
    expect((await api.post('/api/admin/events/retry', {}, key)).json).toEqual({ left: 0 })
  for (const bell of bells)
    await until('both events are handled', async () => (await handled(bell)).length === 2)
})

test('the dead events of one handler are discarded in one request, and events that waited for them are handled', async () => {
  const { shop, api, emitDeadEvent, repair, handled } = await useFailingHandler()
  const bells = [await emitDeadEvent(), await emitDeadEvent()]
  // The state after the first event dies: the second waits until an administrator decides.
  await shop.sql(
    `update cartwright.jobs set due_at = 'infinity' where subject = any ($1) and error is null`,
    [bells]
  )
  repair()
  expect((await api.post('/api/admin/events/discard', {})).status).toBe(400)
  const reason = 'the handler was removed'
  const discard = async (handler: string) =>
    (await api.post('/api/admin/events/discard', { handler, reason })).json
  expect(await discard('nose:bell.rang')).toEqual({ left: 0 })
  expect((await api.get('/api/admin/events?count=true')).json.total).toBe(2)
  expect(await discard('ear:bell.rang')).toEqual({ left: 0 })
  for (const bell of bells) {
    await until('the second event is handled', async () => (await handled(bell)).length > 0)
    expect(await handled(bell)).toEqual([2])
  }
  expect(shop.log.filter(line => line.includes(reason))).toHaveLength(1)
})
