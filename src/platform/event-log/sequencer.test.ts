import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { chimeModule, openEmitter, waitForNths } from '../../../test/support/event-log.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { createEventLogSequencer } from './sequencer.ts'

const chime = chimeModule()

async function useChime({
  waitSeconds = 1,
  isRunning = true
}: {
  waitSeconds?: number
  isRunning?: boolean
} = {}) {
  const shop = await useShop({
    modules: [chime],
    settings: { CARTWRIGHT__EVENTS__POSITION_WAIT_SECONDS: String(waitSeconds) }
  })
  if (!isRunning) await shop.platform.outbox.stop()
  const api = shop.apiOf(chime)
  if (api === undefined) throw new Error('there is no chime')
  const read = async (after = 0) =>
    (await shop.platform.eventLog.read({ after, limit: 500, modules: null })).items
  const nths = async () => (await read()).map(({ payload }) => (payload as { nth: number }).nth)
  const sequencer = () => createEventLogSequencer({ db: shop.db, log: shop.platform.log, waitSeconds })
  return {
    ...shop,
    ...api,
    read,
    nths,
    sequencer,
    openEmitter: (nth: number, subject?: string) => openEmitter(shop.databaseUrl, nth, subject),
    waitFor: (count: number) => waitForNths(nths, count)
  }
}

test('events get positions in the log from 1 on, soon after their commit, even if no module subscribes', async () => {
  const { ring, tune, waitFor, read } = await useChime()
  const subject = await ring([1, 2])
  await tune(3)
  await ring([4])
  expect(await waitFor(3)).toEqual([1, 2, 4])
  const [first, second, third] = await read()
  expect(first).toMatchObject({
    position: 1,
    name: 'chime.rang',
    subject,
    subject_version: 1,
    payload_version: 3,
    payload: { nth: 1 }
  })
  expect([second?.position, third?.position]).toEqual([2, 3])
  expect((second?.occurred_at.getTime() ?? 0) - (first?.occurred_at.getTime() ?? 0)).toBe(1)
})

test('emitting an event takes one statement', async () => {
  const { ring, record } = await useChime()
  expect((await record(() => ring([1]))).statements).toEqual(['outbox.insert_event'])
  expect((await record(() => ring([1, 2]))).statements).toEqual(['outbox.insert_messages'])
})

test('later events wait for an open transaction to get their log position, and follow it when it commits', async () => {
  const { ring, openEmitter, waitFor, nths } = await useChime({ waitSeconds: 30 })
  const emitter = await openEmitter(1)
  await ring([2])
  await delay(300)
  expect(await nths()).toEqual([])
  await emitter.commit()
  expect(await waitFor(2)).toEqual([1, 2])
})

test('a transaction that stays open longer than later events wait is ordered behind them in the event log', async () => {
  const { ring, openEmitter, waitFor, sql } = await useChime({ waitSeconds: 0 })
  const emitter = await openEmitter(1)
  await ring([2])
  await ring([3])
  expect(await waitFor(2)).toEqual([2, 3])
  await emitter.commit()
  await ring([4])
  expect(await waitFor(4)).toEqual([2, 3, 1, 4])
  await ring([5])
  await waitFor(5)
  const [last] = await sql(
    'select skipped_ids from cartwright.event_batches order by first_position desc limit 1'
  )
  expect(last).toEqual({ skipped_ids: [] })
})

test('a rolled back transaction leaves no gap in the event log, and later events do not wait for it', async () => {
  const { ring, openEmitter, waitFor, read } = await useChime({ waitSeconds: 60 })
  const emitter = await openEmitter(1)
  await emitter.rollback()
  await ring([2])
  expect(await waitFor(1)).toEqual([2])
  expect((await read()).map(({ position }) => position)).toEqual([1])
})

test('the event id of a rolled back transaction counts as open while an older transaction is open', async () => {
  const { ring, openEmitter, nths, waitFor, sql } = await useChime({ waitSeconds: 0 })
  const older = await openEmitter(1)
  const younger = await openEmitter(2)
  await younger.rollback()
  await ring([3])
  expect(await waitFor(1)).toEqual([3])
  expect(await sql('select skipped_ids from cartwright.event_batches')).toEqual([{ skipped_ids: [1, 2] }])
  await older.commit()
  expect(await waitFor(2)).toEqual([3, 1])
  expect(await nths()).toEqual([3, 1])
})

test('two processes that give events log positions simultaneously give each event one', async () => {
  const { ring, sequencer, nths, read } = await useChime({ isRunning: false })
  const [left, right] = [sequencer(), sequencer()]
  let emitted = 0
  const emit = async () => {
    for (let turn = 0; turn < 60; turn += 1) {
      const nth = emitted
      emitted += 2
      await ring([nth, nth + 1])
    }
  }
  let isDone = false
  const advance = async (each: typeof left) => {
    const results: string[] = []
    while (!isDone || results.at(-1) !== 'nothing') results.push(await each.advance())
    return results
  }
  const advancing = Promise.all([advance(left), advance(right)])
  await Promise.all([emit(), emit(), emit()])
  isDone = true
  const results = (await advancing).flat()
  // Otherwise the two never met.
  expect(results).toContain('more')
  const events = await read()
  expect(events.map(({ position }) => position)).toEqual(Array.from({ length: 360 }, (_, at) => at + 1))
  expect((await nths()).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 360 }, (_, at) => at))
})

test('a process with an outdated view of the event log gives no positions', async () => {
  const { ring, sequencer, sql, db, platform } = await useChime({ isRunning: false })
  await ring([1])
  const winner = sequencer()
  let isOvertaken = false
  // Another process extends the log between the two statements of this one.
  const loser = createEventLogSequencer({
    log: platform.log,
    waitSeconds: 0,
    db: {
      first: async (...call) => {
        const found = await db.first(...call)
        if (!isOvertaken) {
          isOvertaken = true
          await winner.advance()
          await ring([2])
        }
        return found
      },
      run: db.run
    }
  })
  expect(await loser.advance()).toBe('more')
  expect(await loser.advance()).toBe('nothing')
  expect(await sql('select first_position, ids from cartwright.event_batches order by 1')).toEqual([
    { first_position: 1, ids: [1] },
    { first_position: 2, ids: [2] }
  ])
})
