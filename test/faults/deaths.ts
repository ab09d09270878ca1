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

/** Statements that only read: a death there equals one before the next statement. */
const READS = /\.(?:find|list|count|is|are|measure|read|quote|lock)_/

/** The moment of a death: at a statement or the commit of its transaction, before it or its response arrives. */
export type Moment = { readonly statement: string; readonly at: At }
export type At = 'before' | 'behind' | 'before its commit' | 'behind its commit'
type Shop = Pick<TestShop, 'databaseUrl' | 'sql'>
export type Sent = { method: string; path: string } & RequestOptions

export const momentName = ({ statement, at }: Moment) => `${at}: ${statement}`

/** Starts another process of a shop for one test, with a proxy between it and the database. */
export async function startVictim(
  { databaseUrl, sql }: Shop,
  settings: Readonly<Record<string, string>>,
  ...jobs: readonly ('jobs' | 'webhooks')[]
) {
  const statements = watchStatements()
  const proxy = await openTcpProxy(addressOf(databaseUrl), statements.watch)
  const name = `victim ${newId()}`
  const url = new URL(throughProxy(databaseUrl, proxy))
  url.searchParams.set('application_name', name)
  const child = spawn(process.execPath, [VICTIM, url.href, JSON.stringify(settings), ...jobs], {
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
  const send = async (...requests: readonly Sent[]): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(requests)}\n`)
    const { value } = await lines.next()
    return value === undefined ? undefined : JSON.parse(value)
  }
  const plant = ({ statement, at }: Moment) => {
    const plantAt = at.endsWith('commit') ? statements.onceCommitted : statements.onceAt
    plantAt(statement, () => {
      child.kill('SIGKILL')
      return at.startsWith('before') ? 'reset' : 'pass'
    })
  }
  const gone = async () => {
    await ended
    // The server may still execute the last statement.
    const present = 'select pid from pg_stat_activity where application_name = $1'
    await until(
      'the connections of the killed process are closed',
      async () => (await sql(present, [name])).length === 0
    )
  }
  return {
    /** Sends all requests simultaneously, and is killed at this moment. */
    dieAmong: async (moment: Moment, requests: readonly Sent[]): Promise<void> => {
      plant(moment)
      const answers = await send(...requests)
      if (answers !== undefined) throw new Error(`it lived, and was answered ${JSON.stringify(answers)}`)
      await gone()
    },
    /** Kills the process now. */
    die: async (): Promise<void> => {
      child.kill('SIGKILL')
      await gone()
    },
    /** Sends a request without a death, and returns all moments at which the process could have died. */
    momentsOf: async (request: Sent): Promise<Moment[]> => {
      const before = { seen: new Set(statements.seen), last: new Set(statements.last) }
      await send(request)
      const at = (of: 'seen' | 'last', ...whens: At[]) =>
        [...statements[of]]
          .filter(statement => !before[of].has(statement))
          .flatMap(statement => whens.map(at => ({ statement, at })))
      return [
        ...at('seen', 'before', 'behind').filter(({ statement }) => !READS.test(statement)),
        ...at('last', 'before its commit', 'behind its commit')
      ]
    },
    /**
     * Sends it, and is killed at this moment. @throws what it was answered when it never came, unless it `mayLive`: another
     * process may be quicker with what follows.
     */
    dieAt: async (moment: Moment, request: Sent, mayLive: boolean): Promise<void> => {
      plant(moment)
      const answer = await send(request)
      if (answer !== undefined && mayLive) return
      if (answer !== undefined) throw new Error(`it lived, and was answered ${JSON.stringify(answer)}`)
      await gone()
    },
    /** Receives a request, and is killed at this moment of its work, before or after the response. */
    dieAfter: async (moment: Moment, request: Sent): Promise<void> => {
      plant(moment)
      send(request).catch(() => {})
      await gone()
    },
    /** Is killed at this moment of its background work after `begin`. */
    dieDoing: async (moment: Moment, begin: () => Promise<unknown>): Promise<void> => {
      plant(moment)
      await begin()
      await gone()
    }
  }
}
export type Victim = Awaited<ReturnType<typeof startVictim>>

/** A sequence of processes. The next one starts while the last one dies. */
export async function* victims(
  count: number,
  shop: Shop,
  settings: Readonly<Record<string, string>>
): AsyncGenerator<Victim> {
  const start = () => {
    const victim = startVictim(shop, settings)
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
