import autocannon from 'autocannon'
import { cpuMicroseconds } from './cpu.ts'

/** A program under load: where it listens, and which processes work for it beside the database's. */
export type Contender = {
  name: string
  url: string
  pid: number
  /** The requests that are sent in turn, when they differ from the path of the load. */
  paths?: readonly string[]
}
export type Load = { path: string; tokens: readonly string[]; connections: number; seconds: number }
export type Cost = {
  programMicroseconds: number
  databaseMicroseconds: number
  requestsPerSecond: number
  p99: number
}

/** One round of load, and what each request cost in CPU time of the program and of the database's processes. */
async function measure(contender: Contender, databasePids: () => number[], load: Load): Promise<Cost> {
  const pids = databasePids()
  const { paths = [load.path] } = contender
  const before = { program: cpuMicroseconds([contender.pid]), database: cpuMicroseconds(pids) }
  const result = await autocannon({
    url: contender.url,
    connections: load.connections,
    duration: load.seconds,
    requests: load.tokens.map((token, index) => ({
      path: paths[index % paths.length] as string,
      headers: { authorization: `Bearer ${token}` }
    }))
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(
      `${contender.name}: ${result.non2xx} answers were not 2xx, ${result.errors} requests failed`
    )
  }
  const requests = result.requests.total
  return {
    programMicroseconds: (cpuMicroseconds([contender.pid]) - before.program) / requests,
    databaseMicroseconds: (cpuMicroseconds(pids) - before.database) / requests,
    requestsPerSecond: result.requests.average,
    p99: result.latency.p99
  }
}

export const total = (cost: Cost): number => cost.programMicroseconds + cost.databaseMicroseconds

/** The round in the middle, by total cost. */
function median(costs: readonly Cost[]): Cost {
  const sorted = costs.toSorted((a, b) => total(a) - total(b))
  return sorted[Math.floor(sorted.length / 2)] as Cost
}

const WARM_UP_SECONDS = 6 // until everything is compiled, at 256 connections too

/** Rounds of the contenders in turn, so that whatever else the machine does hits all of them alike. */
export async function compare(
  contenders: readonly Contender[],
  databasePids: () => number[],
  load: Load,
  rounds: number
): Promise<Cost[]> {
  for (const contender of contenders)
    await measure(contender, databasePids, { ...load, seconds: WARM_UP_SECONDS })
  const costs: Cost[][] = contenders.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      costs[index]?.push(await measure(contender, databasePids, load))
    }
  }
  return costs.map(median)
}
