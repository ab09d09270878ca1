import { createRequestBudget, createTokenBuckets } from './request-budget.ts'

/** A limit of requests per minute and caller, which processes may share. */
export type RequestBudget = {
  /**
   * Takes `count` requests from the caller's budget; a negative `count` returns them. Returns 0, or the seconds to wait when too
   * few are left; then none is taken. Returns a promise, which never rejects, when another process has to decide.
   */
  take(caller: string, count?: number): number | Promise<number>
  /** The same when this process can decide; otherwise returns undefined and takes nothing. */
  takeNow(caller: string, count?: number): number | undefined
}
/** Opens the budget with this name. Processes that share it use the same name and limit. */
export type OpenRequestBudget = (name: string, perMinute: number) => RequestBudget

/** What a process has taken of a caller's budget since the last exchange, and what it wants to take now. */
export type BudgetClaim = {
  budget: string
  perMinute: number
  caller: string
  taken: number
  wanted: number
}
/** Seconds to wait for what was wanted, 0 when it was taken, and the used part of the budget. */
export type BudgetState = { waitSeconds: number; usedShare: number }
/** Adds up the claims of all processes. Returns a state for each claim. */
export type ExchangeBudgetClaims = (claims: readonly BudgetClaim[]) => Promise<readonly BudgetState[]>

/** The budgets of a single process. */
export const openLocalBudget: OpenRequestBudget = (_name, perMinute) => {
  const take = createRequestBudget(perMinute)
  return { take, takeNow: take }
}

/** The sums of all processes, in the one that decides. */
export function createBudgetLedger(): (claims: readonly BudgetClaim[]) => BudgetState[] {
  const budgets = new Map<string, ReturnType<typeof createTokenBuckets>>()
  return claims =>
    claims.map(({ budget, perMinute, caller, taken, wanted }) => {
      const key = `${perMinute} ${budget}`
      const buckets = budgets.get(key) ?? createTokenBuckets(perMinute)
      budgets.set(key, buckets)
      if (taken !== 0) buckets.spend(caller, taken)
      const waitSeconds = wanted === 0 ? 0 : buckets.waitSeconds(caller, wanted)
      if (waitSeconds === 0 && wanted !== 0) buckets.spend(caller, wanted)
      return { waitSeconds, usedShare: buckets.usedShare(caller, 0) }
    })
}

/** The part of a limit that a process takes before it reports it. Each process can exceed the limit by at most this part. */
const UNREPORTED_SHARE_MAX = 0.05
/** Above this part of a limit, each request is decided by the sums of all processes. */
const SURE_SHARE_MAX = 0.5
/** What was taken is reported this often. The requests of a caller in this time are one claim. */
const REPORT_MS = 1_000
/** Then this process decides by what it knows. */
const EXCHANGE_MS_MAX = 250

type Waiting = { claim: BudgetClaim; resolve: (waitSeconds: number) => void; decide: () => number }
type Part = {
  /** Requests taken and not reported, by caller. */
  readonly unreported: Map<string, number>
  readonly perMinute: number
  readonly buckets: ReturnType<typeof createTokenBuckets>
}

/**
 * Creates budgets that several processes share through `exchange`. A caller far from its limit waits for no other process: what it
 * takes is reported later. Near the limit, `exchange` decides each request. When that takes too long, this process decides.
 */
export function createSharedBudgets(exchange: ExchangeBudgetClaims): OpenRequestBudget {
  const parts = new Map<string, Part>()
  let waiting: Waiting[] = []
  let isExchanging = false
  let isReportSet = false

  const report = () => {
    if (isReportSet) return
    isReportSet = true
    setTimeout(() => {
      isReportSet = false
      void send()
    }, REPORT_MS).unref()
  }

  /** Exchanges everything that is unreported or waits. Only one exchange runs at a time. */
  async function send(): Promise<void> {
    if (isExchanging) return
    const asked = waiting
    const reports = [...parts].flatMap(([budget, { unreported, perMinute }]) =>
      [...unreported].map(([caller, taken]) => ({ budget, perMinute, caller, taken, wanted: 0 }))
    )
    if (asked.length + reports.length === 0) return
    waiting = []
    isExchanging = true
    // Reports first, so that the decisions count them.
    const claims = [...reports, ...asked.map(({ claim }) => claim)]
    const states = await exchangeInTime(claims)
    for (const [index, { budget, caller, taken }] of claims.entries()) {
      const part = parts.get(budget) as Part
      // Without an answer, the claims are taken as reported.
      const left = (part.unreported.get(caller) ?? 0) - taken
      if (left === 0) part.unreported.delete(caller)
      else part.unreported.set(caller, left)
      const state = states?.[index]
      if (state === undefined) continue
      part.buckets.setUsedShare(caller, state.usedShare + left / part.perMinute)
    }
    for (const [index, { resolve, decide }] of asked.entries())
      resolve(states?.[reports.length + index]?.waitSeconds ?? decide())
    isExchanging = false
    if (waiting.length > 0) void send()
    else if ([...parts.values()].some(({ unreported }) => unreported.size > 0)) report()
  }

  async function exchangeInTime(claims: readonly BudgetClaim[]) {
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(resolve, EXCHANGE_MS_MAX, undefined)
    const answer = exchange(claims).catch(() => undefined)
    return Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }

  return (budget, perMinute) => {
    if (perMinute === Number.POSITIVE_INFINITY) return openLocalBudget(budget, perMinute)
    const part: Part = { unreported: new Map(), perMinute, buckets: createTokenBuckets(perMinute) }
    parts.set(budget, part)
    const { buckets, unreported } = part
    const unreportedMax = UNREPORTED_SHARE_MAX * perMinute
    const spend = (caller: string, count: number) => {
      buckets.spend(caller, count)
      unreported.set(caller, (unreported.get(caller) ?? 0) + count)
      report()
    }
    const takeNow = (caller: string, count = 1): number | undefined => {
      // The sums of all processes are not lower than what this one knows.
      const waitSeconds = buckets.waitSeconds(caller, count)
      if (waitSeconds > 0) return waitSeconds
      const isSure =
        count <= 0 ||
        ((unreported.get(caller) ?? 0) + count <= unreportedMax &&
          buckets.usedShare(caller, count) <= SURE_SHARE_MAX)
      if (!isSure) return undefined
      spend(caller, count)
      return 0
    }
    const decide = (caller: string, count: number) => () => {
      const waitSeconds = buckets.waitSeconds(caller, count)
      if (waitSeconds === 0) spend(caller, count)
      return waitSeconds
    }
    const ask = (caller: string, count: number): Promise<number> =>
      new Promise(resolve => {
        const claim = { budget, perMinute, caller, taken: 0, wanted: count }
        waiting.push({ claim, resolve, decide: decide(caller, count) })
        // After this turn of the event loop, so that simultaneous requests are one message.
        if (waiting.length === 1) setImmediate(send)
      })
    return {
      takeNow,
      take: (caller, count = 1) => takeNow(caller, count) ?? ask(caller, count)
    }
  }
}
