import { expect, test } from 'vitest'
import { judge, type Observation } from './judge.ts'
import type { Try } from './traffic.ts'

const good: Try = {
  process: 0,
  kind: 'account',
  what: 'GET /api/cart',
  isWrite: false,
  startedAt: 10_100,
  endedAt: 10_200,
  status: 200,
  code: undefined,
  saysWhenToRetry: false
}
const every = [good, { ...good, isWrite: true }, { ...good, kind: 'browse' as const }]
const refused: Try = { ...good, status: 503, code: 'DATABASE_UNAVAILABLE', saysWhenToRetry: true }
const observation: Observation = {
  processes: 1,
  tries: [...every, refused],
  operations: [{ what: 'POST /api/cart', startedAt: 8_000, endedAt: 12_900, tries: 5 }],
  mendedAt: 10_000,
  isFrozen: () => false,
  mayRefuse: true,
  ended: [],
  books: [],
  stallMs: 0
}
const more = (...tries: Partial<Try>[]) => ({
  tries: [...every, ...tries.map(one => ({ ...good, ...one }))]
})

test('a survived fault breaks no guarantee', () => {
  expect(judge(observation)).toEqual({
    broken: [],
    figures: {
      requests: 4,
      refused: 1,
      firstSuccessMs: 200,
      retried: 1,
      retriedP99Ms: 2_900,
      longestMs: { browse: 100, account: 100, diagnostics: 0 },
      stallMs: 0
    }
  })
})

test.each<[string, Partial<Observation>, RegExp]>([
  ['a process that ended', { ended: ['process 1 ended with 1'] }, /^process 1 ended with 1$/],
  ['a lost write', { books: ['2 were stored and 3 acknowledged'] }, /3 acknowledged/],
  ['500', more({ status: 500, code: 'INTERNAL' }), /^GET \/api\/cart was answered 500 INTERNAL \(1 times\)$/],
  ['a rejection without Retry-After', more({ ...refused, saysWhenToRetry: false }), /without Retry-After/],
  ['a rejection without a fault', { mayRefuse: false }, /answered 503/],
  ['a lost session', more({ status: 401, code: 'AUTH_SESSION_ENDED' }), /answered 401/],
  ['a broken connection', more({ status: undefined }), /was not answered/],
  ['a late page', more({ kind: 'browse', startedAt: 0, endedAt: 3_001 }), /browse took 3\.0 s/],
  ['a late cart', more({ startedAt: 0, endedAt: 6_001 }), /account took 6\.0 s/],
  ['a late probe', more({ kind: 'diagnostics', startedAt: 0, endedAt: 2_001 }), /diagnostics took 2\.0 s/],
  ['a late recovery', { mendedAt: 9_100, operations: [] }, /first success came 1\.1 s after the mend/],
  ['no recovery', { tries: every.filter(one => !one.isWrite) }, /for ever after the mend: writing a cart/],
  ['a process that does not recover', { processes: 2 }, /for ever .* process 2$/],
  ['a late retry', { mendedAt: 9_800 }, /3\.1 s after the mend \(p99\): POST \/api\/cart, 5 tries/]
])('%s is found', (_name, change, said) => {
  const { broken } = judge({ ...observation, ...change })
  expect(broken).toEqual([expect.stringMatching(said)])
})

test('the time of a request to a frozen process counts from when the process continues', () => {
  const frozen = more({ startedAt: 2_000, endedAt: 11_000 })
  expect(judge({ ...observation, ...frozen, isFrozen: () => true }).broken).toEqual([])
  expect(judge({ ...observation, ...frozen }).broken).toHaveLength(1)
})

test('the time in which the judge itself was blocked is not counted against the shop', () => {
  const late = more({ startedAt: 0, endedAt: 6_100 })
  expect(judge({ ...observation, ...late, stallMs: 200 }).broken).toEqual([])
})
