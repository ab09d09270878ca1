import type { Redis } from 'ioredis'
import type { BudgetClaim, BudgetState } from '../../kernel/shared-request-budgets.ts'

const WINDOW_MS = 60_000

/**
 * One token bucket: a key with the time at which it is full again, in milliseconds of the clock of Redis. Returns how long a
 * claim has to wait, and how long the bucket needs until it is full.
 */
const CLAIM = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local cost, taken, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + cost * taken
local wait = full + cost * wanted - now - ${WINDOW_MS}
if wait <= 0.01 then
  wait = 0
  full = full + cost * wanted
end
if full > now then
  redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now))
else
  redis.call('DEL', KEYS[1])
end
return { string.format('%.3f', wait), string.format('%.3f', math.max(full - now, 0)) }`

declare module 'ioredis' {
  interface ChainableCommander {
    claimFromLimit(key: string, costMs: number, taken: number, wanted: number): ChainableCommander
  }
}

/** Adds up in Redis what processes take of limits of requests. Rejects when Redis fails. */
export function createRedisLimits(redis: Redis): (claims: readonly BudgetClaim[]) => Promise<BudgetState[]> {
  redis.defineCommand('claimFromLimit', { numberOfKeys: 1, lua: CLAIM })
  return async claims => {
    const pipeline = redis.pipeline()
    for (const { budget, perMinute, caller, taken, wanted } of claims)
      pipeline.claimFromLimit(`limit:${perMinute}:${budget}:${caller}`, WINDOW_MS / perMinute, taken, wanted)
    const answers = (await pipeline.exec()) ?? []
    return answers.map(([error, answer]) => {
      if (error !== null) throw error
      const [waitMs, fullInMs] = (answer as [string, string]).map(Number) as [number, number]
      return { waitSeconds: Math.ceil(waitMs / 1_000), usedShare: fullInMs / WINDOW_MS }
    })
  }
}
