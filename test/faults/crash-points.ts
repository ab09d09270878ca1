import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { RequestOptions, TestShop } from '../../src/testing.ts'
import { victimProgram } from '../support/program.ts'
import { addressOf, throughProxy } from './postgres-address.ts'
import { watchStatements } from './postgres-wire.ts'
import { openTcpProxy } from './tcp-proxy.ts'
import { until } from './until.ts'

const VICTIM = victimProgram('request-victim')

/** Statements that only read. A crash there equals one before the next statement. */
const READS = /\.(?:find|list|count|is|are|measure|read|quote|lock)_/

/** A crash at a statement or at the commit of its transaction: before the statement is sent or before its response arrives. */
export type CrashPoint = { readonly statement: string; readonly at: CrashTiming }
export type CrashTiming = 'before' | 'behind' | 'before its commit' | 'behind its commit'
/** A module that a process has besides those of a checkout. */
export type VictimModule = 'gift-cards' | 'providers'
type VictimPart = 'jobs' | 'webhooks' | VictimModule
type Shop = Pick<TestShop, 'databaseUrl' | 'sql'>
export type SentRequest = { method: string; path: string } & RequestOptions

export const crashPointName = ({ statement, at }: CrashPoint) => `${at}: ${statement}`

/** Starts another process of a shop for one test, with a proxy between it and the database. */
export async function startVictim(
  { databaseUrl, sql }: Shop,
  settings: Readonly<Record<string, string>>,
  ...parts: readonly VictimPart[]
) {
  const statements = watchStatements()
  const proxy = await openTcpProxy(addressOf(databaseUrl), statements.watch)
  const name = `victim ${newId()}`
  const url = new URL(throughProxy(databaseUrl, proxy))
  url.searchParams.set('application_name', name)
  const child = spawn(process.execPath, [VICTIM, url.href, JSON.stringify(settings), ...parts], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    await proxy.close()
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  const send = async (...requests: readonly SentRequest[]): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(requests)}\n`)
    const { value } = await lines.next()
    return value === undefined ? undefined : JSON.parse(value)
  }
  const plant = ({ statement, at }: CrashPoint) => {
    const plantAt = at.endsWith('commit') ? statements.onceCommitted : statements.onceAt
    plantAt(statement, () => {
      child.kill('SIGKILL')
      return at.startsWith('before') ? 'reset' : 'pass'
    })
  }
  const gone = async () => {
    await until('the process is killed at its crash point', () => child.signalCode !== null)
    // The server may still execute the last statement.
    const present = 'select pid from pg_stat_activity where application_name = $1'
    await until(
      'the connections of the killed process are closed',
      async () => (await sql(present, [name])).length === 0
    )
  }
  return {
    /** Sends all requests simultaneously; the process is killed at the crash point. */
    crashDuringRequests: async (crashPoint: CrashPoint, requests: readonly SentRequest[]): Promise<void> => {
      plant(crashPoint)
      const answers = await send(...requests)
      if (answers !== undefined)
        throw new Error(`the process survived, and responded ${JSON.stringify(answers)}`)
      await gone()
    },
    /** Kills the process now. */
    kill: async (): Promise<void> => {
      child.kill('SIGKILL')
      await gone()
    },
    /** Sends a request without a crash, and returns every point at which the process could crash. */
    crashPointsOf: async (request: SentRequest): Promise<CrashPoint[]> => {
      const before = {
        seenStatements: new Set(statements.seenStatements),
        lastStatements: new Set(statements.lastStatements)
      }
      await send(request)
      const at = (of: 'seenStatements' | 'lastStatements', ...timings: CrashTiming[]) =>
        [...statements[of]]
          .filter(statement => !before[of].has(statement))
          .flatMap(statement => timings.map(timing => ({ statement, at: timing })))
      return [
        ...at('seenStatements', 'before', 'behind').filter(({ statement }) => !READS.test(statement)),
        ...at('lastStatements', 'before its commit', 'behind its commit')
      ]
    },
    /**
     * Sends a request; the process is killed at the crash point. @throws the response when the process survives, unless it
     * `mayLive` because another process may execute the statement first.
     */
    crashDuring: async (crashPoint: CrashPoint, request: SentRequest, mayLive: boolean): Promise<void> => {
      plant(crashPoint)
      const answer = await send(request)
      if (answer !== undefined && mayLive) return
      if (answer !== undefined)
        throw new Error(`the process survived, and responded ${JSON.stringify(answer)}`)
      await gone()
    },
    /** Sends a request; the process is killed at the crash point, before or after the response. */
    crashWhileHandling: async (crashPoint: CrashPoint, request: SentRequest): Promise<void> => {
      plant(crashPoint)
      send(request).catch(() => {})
      await gone()
    },
    /** Calls `begin`; the process is killed at the crash point of its background work. */
    crashInBackground: async (crashPoint: CrashPoint, begin: () => Promise<unknown>): Promise<void> => {
      plant(crashPoint)
      await begin()
      await gone()
    }
  }
}
export type Victim = Awaited<ReturnType<typeof startVictim>>

/** A sequence of processes. The next one starts while the last one dies. */
export async function* startVictims(
  count: number,
  shop: Shop,
  settings: Readonly<Record<string, string>>,
  ...parts: readonly VictimPart[]
): AsyncGenerator<Victim> {
  const start = () => {
    const victim = startVictim(shop, settings, ...parts)
    victim.catch(() => {})
    return victim
  }
  let next = start()
  for (let left = count; left > 0; left -= 1) {
    const victim = await next
    if (left > 1) next = start()
    yield victim
  }
}
