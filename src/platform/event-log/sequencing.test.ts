import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseNextEventLogBatch, type EventIdRange, type EventLogSnapshot } from './sequencing.ts'

const EMPTY: EventLogSnapshot = { lastId: 0, skipped: [], events: [], endedId: 0 }
const WAIT_SECONDS = 1
const next = (state: Partial<EventLogSnapshot>, waitSeconds = WAIT_SECONDS) =>
  chooseNextEventLogBatch({ ...EMPTY, ...state }, waitSeconds)
const aged = (ageSeconds: number, ...ids: number[]) => ids.map(id => ({ id, ageSeconds }))

test('events get log positions in the order of their ids', () => {
  expect(next({ lastId: 4, events: aged(0, 5, 6, 7) })).toEqual({
    ids: [5, 6, 7],
    lastId: 7,
    skipped: [],
    isWaiting: false
  })
})

test('an event waits for its log position while the transaction of an earlier id may be open', () => {
  expect(next({ events: aged(0.5, 1, 3) })).toEqual({ ids: [1], lastId: 1, skipped: [], isWaiting: true })
})

test('an event that has waited long enough gets its log position, and the missing earlier id is skipped', () => {
  expect(next({ events: [...aged(9, 1, 4), ...aged(0, 5)] })).toEqual({
    ids: [1, 4, 5],
    lastId: 5,
    skipped: [{ from: 2, to: 3 }],
    isWaiting: false
  })
})

test('an event does not wait for the missing id of a transaction that was rolled back', () => {
  expect(next({ events: aged(0, 1, 4), endedId: 3 })).toEqual({
    ids: [1, 4],
    lastId: 4,
    skipped: [],
    isWaiting: false
  })
})

test('a skipped event that commits later gets the next log position, and the rest of its range stays skipped', () => {
  const state = { lastId: 9, skipped: [{ from: 3, to: 5 }], events: aged(0, 4, 10) }
  expect(next(state)).toEqual({
    ids: [4, 10],
    lastId: 10,
    skipped: [
      { from: 3, to: 3 },
      { from: 5, to: 5 }
    ],
    isWaiting: false
  })
})

test('a range of skipped event ids is forgotten when their transactions have ended', () => {
  const skipped = [
    { from: 3, to: 3 },
    { from: 7, to: 8 }
  ]
  expect(next({ lastId: 9, skipped, events: aged(0, 10), endedId: 7 }).skipped).toEqual([{ from: 7, to: 8 }])
  expect(next({ lastId: 9, skipped, events: aged(0, 10), endedId: 8 }).skipped).toEqual([])
})

test('a sequence of event ids that jumped ahead leaves one range of skipped ids', () => {
  expect(next({ lastId: 1, events: aged(2, 1_000_000_000) }).skipped).toEqual([{ from: 2, to: 999_999_999 }])
})

test('every committed event gets one log position, whatever the order of commits', () => {
  const commits = fc.array(
    fc.record({ delay: fc.integer({ min: 0, max: 12 }), isRolledBack: fc.boolean() }),
    {
      maxLength: 30
    }
  )
  fc.assert(
    fc.property(commits, fc.integer({ min: 0, max: 5 }), (transactions, waitTicks) => {
      const positions: number[] = []
      let state: { lastId: number; skipped: readonly EventIdRange[] } = { lastId: 0, skipped: [] }
      for (let tick = 0; tick < 60; tick += 1) {
        const all = transactions.map(({ delay, isRolledBack }, at) => ({
          id: at + 1,
          endsAt: at + delay,
          isRolledBack
        }))
        const drawn = all.filter(({ id }) => id <= tick)
        const isOpen = (each: { endsAt: number }) => each.endsAt > tick
        const endedId = (drawn.find(isOpen)?.id ?? drawn.length + 1) - 1
        const visible = drawn.filter(
          each => !isOpen(each) && !each.isRolledBack && !positions.includes(each.id)
        )
        const isSkipped = (id: number) => state.skipped.some(({ from, to }) => id >= from && id <= to)
        const events = visible
          .filter(({ id }) => id > state.lastId || isSkipped(id))
          .map(({ id, endsAt }) => ({ id, ageSeconds: tick - endsAt }))
        const chosen = chooseNextEventLogBatch({ ...state, events, endedId }, waitTicks)
        positions.push(...chosen.ids)
        if (chosen.ids.length > 0) state = chosen
      }
      const committed = transactions.flatMap(({ isRolledBack }, at) => (isRolledBack ? [] : [at + 1]))
      expect(positions.toSorted((a, b) => a - b)).toEqual(committed)
    })
  )
})
