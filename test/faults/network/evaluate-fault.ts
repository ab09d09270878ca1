import type { Operation } from '../kill-load.ts'
import type { RequestAttempt, RequestKind } from './traffic.ts'

/** The limits of the duration of a request by its class. */
const DEADLINE_MS: Readonly<Record<RequestKind, number>> = {
  browse: 2_000,
  account: 5_000,
  diagnostics: 1_000
}
const GRACE_MS = 1_000
const FIRST_SUCCESS_MS_MAX = 1_000
const RETRIED_P99_MS_MAX = 3_000
const PROBLEMS_SHOWN_MAX = 8

/** The observations during a fault and afterwards. */
export type Observation = {
  processes: number
  attempts: readonly RequestAttempt[]
  operations: readonly Operation[]
  faultRemovedAt: number
  /** Whether the fault freezes this process. The duration of its requests counts from the removal of the fault. */
  isFrozen(process: number): boolean
  /** Whether the shop may respond 503. It must serve every request without its cache. */
  mayRefuse: boolean
  /** The exit of each process that ended. */
  endedProcesses: readonly string[]
  /** The lost and duplicate writes. */
  wrongWrites: readonly string[]
  /** The longest stall of the suite's own process, which occurs on a busy machine. */
  stallMs: number
}

type FaultMeasurements = {
  requests: number
  refused: number
  /** From the removal of the fault to the first success, of the slowest process and kind of request. */
  firstSuccessMs: number
  retried: number
  /** Of operations with more than one attempt: from the removal of the fault, or a later start, to the response. */
  retriedP99Ms: number
  longestMs: Readonly<Record<RequestKind, number>>
  /** The tolerance that is added to each limit. */
  stallMs: number
}
/** `broken`: one sentence for each broken guarantee. */
export type FaultVerdict = { measurements: FaultMeasurements; broken: string[] }

export function evaluateFault(seen: Observation): FaultVerdict {
  const { attempts, faultRemovedAt, isFrozen, stallMs } = seen
  const broken = [...seen.endedProcesses, ...seen.wrongWrites, ...findWrongAnswers(seen)]
  const longestMs = { browse: 0, account: 0, diagnostics: 0 }
  const longest: Partial<Record<RequestKind, RequestAttempt>> = {}
  for (const each of attempts) {
    const { kind, process, startedAt, endedAt } = each
    const countsFrom = isFrozen(process) ? Math.max(startedAt, Math.min(faultRemovedAt, endedAt)) : startedAt
    if (endedAt - countsFrom <= longestMs[kind]) continue
    longestMs[kind] = endedAt - countsFrom
    longest[kind] = each
  }
  for (const kind of ['browse', 'account', 'diagnostics'] as const) {
    const attempt = longest[kind]
    if (attempt === undefined || longestMs[kind] <= DEADLINE_MS[kind] + GRACE_MS + stallMs) continue
    const sent = `sent ${formatDuration(Math.abs(attempt.startedAt - faultRemovedAt))} ${attempt.startedAt < faultRemovedAt ? 'before' : 'after'} the fault`
    broken.push(
      `the longest request of ${kind} took ${formatDuration(longestMs[kind])}: ${attempt.route}, ${attempt.status} ${attempt.code ?? ''}, ${sent}`
    )
  }
  const { firstSuccessMs, need } = slowestFirstSuccess(seen)
  if (firstSuccessMs > FIRST_SUCCESS_MS_MAX + stallMs) {
    broken.push(`the first success came ${formatDuration(firstSuccessMs)} after the fault: ${need}`)
  }
  const retried = seen.operations.filter(({ attempts, endedAt }) => attempts > 1 && endedAt > faultRemovedAt)
  const retriedP99Ms = p99(
    retried.map(({ startedAt, endedAt }) => endedAt - Math.max(startedAt, faultRemovedAt))
  )
  if (retriedP99Ms > RETRIED_P99_MS_MAX + stallMs) {
    const slowest = retried.toSorted((a, b) => b.endedAt - a.endedAt)[0] as Operation
    broken.push(
      `retried operations took ${formatDuration(retriedP99Ms)} after the fault (p99): ${slowest.route}, ${slowest.attempts} attempts`
    )
  }
  const refused = attempts.filter(({ status }) => status === 503).length
  const requests = attempts.length
  return {
    measurements: {
      requests,
      refused,
      firstSuccessMs,
      retried: retried.length,
      retriedP99Ms,
      longestMs,
      stallMs
    },
    broken
  }
}

/** Lists responses that are neither a success nor a rejection with Retry-After. */
function findWrongAnswers({ attempts, mayRefuse }: Observation): string[] {
  const counts = new Map<string, number>()
  for (const { route, status, code, hasRetryAfter } of attempts) {
    if (status !== undefined && status < 400) continue
    const mayRetry = (status === 503 && mayRefuse) || code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
    if (mayRetry && hasRetryAfter) continue
    const missing = mayRetry ? ' without Retry-After' : ''
    const answer =
      status === undefined ? 'was not answered' : `was answered ${status} ${code ?? ''}${missing}`
    const problem = `${route} ${answer}`
    counts.set(problem, (counts.get(problem) ?? 0) + 1)
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1])
  const rest = sorted.slice(PROBLEMS_SHOWN_MAX)
  const shownFirst = sorted
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map(([problem, count]) => `${problem} (${count} times)`)
  return rest.length === 0 ? shownFirst : [...shownFirst, `and ${rest.length} more kinds of wrong answers`]
}

/** Each process must serve all of these again after the fault. */
const REQUIRED_SUCCESSES: Readonly<Record<string, (attempt: RequestAttempt) => boolean>> = {
  browsing: attempt => attempt.kind === 'browse',
  'reading a cart': attempt => attempt.kind === 'account' && !attempt.isWrite,
  'writing a cart': attempt => attempt.kind === 'account' && attempt.isWrite
}

function slowestFirstSuccess({ processes, attempts, faultRemovedAt }: Observation) {
  const successes = attempts.filter(
    ({ status, endedAt }) => status !== undefined && status < 400 && endedAt >= faultRemovedAt
  )
  let firstSuccessMs = 0
  let slowestNeed = ''
  for (let process = 0; process < processes; process += 1) {
    for (const [need, fits] of Object.entries(REQUIRED_SUCCESSES)) {
      let first = Number.POSITIVE_INFINITY
      for (const success of successes) {
        if (success.process === process && fits(success))
          first = Math.min(first, success.endedAt - faultRemovedAt)
      }
      if (first <= firstSuccessMs) continue
      firstSuccessMs = first
      slowestNeed = `${need}, process ${process + 1}`
    }
  }
  return { firstSuccessMs, need: slowestNeed }
}

function p99(durations: readonly number[]): number {
  const sorted = durations.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0
}

/** Formats milliseconds. */
export const formatDuration = (milliseconds: number): string =>
  milliseconds === Number.POSITIVE_INFINITY ? 'for ever' : `${(milliseconds / 1_000).toFixed(1)} s`
