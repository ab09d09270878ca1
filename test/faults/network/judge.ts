import type { Operation } from '../kill-load.ts'
import type { RequestKind, Try } from './traffic.ts'

/** The limits of the duration of a request by its class. */
const DEADLINE_MS: Readonly<Record<RequestKind, number>> = {
  browse: 2_000,
  account: 5_000,
  diagnostics: 1_000
}
const GRACE_MS = 1_000
const FIRST_SUCCESS_MS_MAX = 1_000
const RETRIED_P99_MS_MAX = 3_000
const KINDS_OF_WRONG_SHOWN_MAX = 8

/** The observations during a fault and afterwards. */
export type Observation = {
  processes: number
  tries: readonly Try[]
  operations: readonly Operation[]
  mendedAt: number
  /** Whether a process is frozen itself: its requests meanwhile are measured from the mend. */
  isFrozen(process: number): boolean
  /** Whether the shop may answer 503 at all: without its cache it must go on. */
  mayRefuse: boolean
  /** How each ended process ended. */
  ended: readonly string[]
  /** The lost and duplicate writes. */
  books: readonly string[]
  /** The longest that the judge's own process stood still, on a busy machine. */
  stallMs: number
}

export type Figures = {
  requests: number
  refused: number
  /** From the mend to the first success of the process and kind that took longest. */
  firstSuccessMs: number
  retried: number
  /** Of the operations that took more than one try: from the mend, or a later start, to the answer. */
  retriedP99Ms: number
  longestMs: Readonly<Record<RequestKind, number>>
  /** The tolerance that is added to each limit. */
  stallMs: number
}
/** `broken`: one sentence for each broken guarantee. */
export type Verdict = { figures: Figures; broken: string[] }

export function judge(seen: Observation): Verdict {
  const { tries, mendedAt, isFrozen, stallMs } = seen
  const broken = [...seen.ended, ...seen.books, ...wrongAnswers(seen)]
  const longestMs = { browse: 0, account: 0, diagnostics: 0 }
  const longest: Partial<Record<RequestKind, Try>> = {}
  for (const one of tries) {
    const { kind, process, startedAt, endedAt } = one
    const countsFrom = isFrozen(process) ? Math.max(startedAt, Math.min(mendedAt, endedAt)) : startedAt
    if (endedAt - countsFrom <= longestMs[kind]) continue
    longestMs[kind] = endedAt - countsFrom
    longest[kind] = one
  }
  for (const kind of ['browse', 'account', 'diagnostics'] as const) {
    const one = longest[kind]
    if (one === undefined || longestMs[kind] <= DEADLINE_MS[kind] + GRACE_MS + stallMs) continue
    const sent = `sent ${shown(Math.abs(one.startedAt - mendedAt))} ${one.startedAt < mendedAt ? 'before' : 'after'} the mend`
    broken.push(
      `the longest request of ${kind} took ${shown(longestMs[kind])}: ${one.what}, ${one.status} ${one.code ?? ''}, ${sent}`
    )
  }
  const { firstSuccessMs, of } = slowestFirstSuccess(seen)
  if (firstSuccessMs > FIRST_SUCCESS_MS_MAX + stallMs) {
    broken.push(`the first success came ${shown(firstSuccessMs)} after the mend: ${of}`)
  }
  const retried = seen.operations.filter(({ tries, endedAt }) => tries > 1 && endedAt > mendedAt)
  const retriedP99Ms = p99(retried.map(({ startedAt, endedAt }) => endedAt - Math.max(startedAt, mendedAt)))
  if (retriedP99Ms > RETRIED_P99_MS_MAX + stallMs) {
    const slowest = retried.toSorted((a, b) => b.endedAt - a.endedAt)[0] as Operation
    broken.push(
      `retried operations took ${shown(retriedP99Ms)} after the mend (p99): ${slowest.what}, ${slowest.tries} tries`
    )
  }
  const refused = tries.filter(({ status }) => status === 503).length
  const requests = tries.length
  return {
    figures: { requests, refused, firstSuccessMs, retried: retried.length, retriedP99Ms, longestMs, stallMs },
    broken
  }
}

/** Answers that are neither a success, nor 503 or "in progress" with the time to come back. */
function wrongAnswers({ tries, mayRefuse }: Observation): string[] {
  const counts = new Map<string, number>()
  for (const { what, status, code, saysWhenToRetry } of tries) {
    if (status !== undefined && status < 400) continue
    const mayComeBack = (status === 503 && mayRefuse) || code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
    if (mayComeBack && saysWhenToRetry) continue
    const missing = mayComeBack ? ' without Retry-After' : ''
    const answer =
      status === undefined ? 'was not answered' : `was answered ${status} ${code ?? ''}${missing}`
    const said = `${what} ${answer}`
    counts.set(said, (counts.get(said) ?? 0) + 1)
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1])
  const rest = sorted.slice(KINDS_OF_WRONG_SHOWN_MAX)
  const shownFirst = sorted
    .slice(0, KINDS_OF_WRONG_SHOWN_MAX)
    .map(([said, count]) => `${said} (${count} times)`)
  return rest.length === 0 ? shownFirst : [...shownFirst, `and ${rest.length} more kinds of wrong answers`]
}

/** What has to work again on each process: looking around, reading a cart, writing one. */
const NEEDS: Readonly<Record<string, (one: Try) => boolean>> = {
  browsing: one => one.kind === 'browse',
  'reading a cart': one => one.kind === 'account' && !one.isWrite,
  'writing a cart': one => one.kind === 'account' && one.isWrite
}

function slowestFirstSuccess({ processes, tries, mendedAt }: Observation) {
  const successes = tries.filter(
    ({ status, endedAt }) => status !== undefined && status < 400 && endedAt >= mendedAt
  )
  let firstSuccessMs = 0
  let of = ''
  for (let process = 0; process < processes; process += 1) {
    for (const [need, fits] of Object.entries(NEEDS)) {
      let first = Number.POSITIVE_INFINITY
      for (const one of successes) {
        if (one.process === process && fits(one)) first = Math.min(first, one.endedAt - mendedAt)
      }
      if (first <= firstSuccessMs) continue
      firstSuccessMs = first
      of = `${need}, process ${process + 1}`
    }
  }
  return { firstSuccessMs, of }
}

function p99(durations: readonly number[]): number {
  const sorted = durations.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0
}

/** Formats milliseconds. */
export const shown = (milliseconds: number): string =>
  milliseconds === Number.POSITIVE_INFINITY ? 'for ever' : `${(milliseconds / 1_000).toFixed(1)} s`
