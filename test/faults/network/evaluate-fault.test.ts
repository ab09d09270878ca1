import { expect, test } from 'vitest'
import { evaluateFault, type Observation } from './evaluate-fault.ts'
import type { RequestAttempt } from './traffic.ts'

const good: RequestAttempt = {
  process: 0,
  kind: 'account',
  route: 'GET /api/cart',
  isWrite: false,
  startedAt: 10_100,
  endedAt: 10_200,
  status: 200,
  code: undefined,
  hasRetryAfter: false
}
const every = [good, { ...good, isWrite: true }, { ...good, kind: 'browse' as const }]
const refused: RequestAttempt = { ...good, status: 503, code: 'DATABASE_UNAVAILABLE', hasRetryAfter: true }
const observation: Observation = {
  processes: 1,
  attempts: [...every, refused],
  operations: [{ route: 'POST /api/cart', startedAt: 8_000, endedAt: 12_900, attempts: 5 }],
  faultRemovedAt: 10_000,
  isFrozen: () => false,
  mayRefuse: true,
  endedProcesses: [],
  wrongWrites: [],
  stallMs: 0
}
const withAttempts = (...attempts: Partial<RequestAttempt>[]) => ({
  attempts: [...every, ...attempts.map(attempt => ({ ...good, ...attempt }))]
})

test('the judge of network faults finds no broken guarantee in a fault that the shop survived', () => {
  expect(evaluateFault(observation)).toEqual({
    broken: [],
    measurements: {
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
  ['a process that ended', { endedProcesses: ['process 1 ended with 1'] }, /^process 1 ended with 1$/],
  ['a lost write', { wrongWrites: ['2 were stored and 3 acknowledged'] }, /3 acknowledged/],
  [
    '500',
    withAttempts({ status: 500, code: 'INTERNAL' }),
    /^GET \/api\/cart was answered 500 INTERNAL \(1 times\)$/
  ],
  [
    'a rejection without Retry-After',
    withAttempts({ ...refused, hasRetryAfter: false }),
    /without Retry-After/
  ],
  ['a rejection without a fault', { mayRefuse: false }, /answered 503/],
  ['a lost session', withAttempts({ status: 401, code: 'AUTH_SESSION_ENDED' }), /answered 401/],
  ['a broken connection', withAttempts({ status: undefined }), /was not answered/],
  ['a late page', withAttempts({ kind: 'browse', startedAt: 0, endedAt: 3_001 }), /browse took 3\.0 s/],
  ['a late cart', withAttempts({ startedAt: 0, endedAt: 6_001 }), /account took 6\.0 s/],
  [
    'a late probe',
    withAttempts({ kind: 'diagnostics', startedAt: 0, endedAt: 2_001 }),
    /diagnostics took 2\.0 s/
  ],
  ['a late recovery', { faultRemovedAt: 9_100, operations: [] }, /first success came 1\.1 s after the fault/],
  [
    'no recovery',
    { attempts: every.filter(one => !one.isWrite) },
    /for ever after the fault: writing a cart/
  ],
  ['a process that does not recover', { processes: 2 }, /for ever .* process 2$/],
  ['a late retry', { faultRemovedAt: 9_800 }, /3\.1 s after the fault \(p99\): POST \/api\/cart, 5 attempts/]
])('the judge of network faults finds %s', (_name, change, message) => {
  const { broken } = evaluateFault({ ...observation, ...change })
  expect(broken).toEqual([expect.stringMatching(message)])
})

test('for the network fault judge, a request to a frozen process begins when the process continues', () => {
  const frozen = withAttempts({ startedAt: 2_000, endedAt: 11_000 })
  expect(evaluateFault({ ...observation, ...frozen, isFrozen: () => true }).broken).toEqual([])
  expect(evaluateFault({ ...observation, ...frozen }).broken).toHaveLength(1)
})

test('the network fault judge does not count the time in which it was blocked itself against the shop', () => {
  const late = withAttempts({ startedAt: 0, endedAt: 6_100 })
  expect(evaluateFault({ ...observation, ...late, stallMs: 200 }).broken).toEqual([])
})
