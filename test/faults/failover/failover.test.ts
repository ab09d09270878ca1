import { expect, test } from 'vitest'
import { type Failure, type Route, runFailover } from './failover.ts'

// Lane long: it takes 20 seconds. hosts.test.ts replaces a primary without load.

/** Time from the promotion to the first write. The rest is for a busy machine. */
const FIRST_WRITE_MS_MAX = 2_000 + 1_500
const ALL = Object.entries({ kill: 10, freeze: 5, switchover: 5 }).flatMap(([failure, times]) =>
  Array.from({ length: times }, (_, nth): [Failure, Route] => [
    failure as Failure,
    nth % 2 === 0 ? 'hosts' : 'proxy'
  ])
)
const RUNS_ALL = process.env.FAILOVERS === 'all'
const SIZE = RUNS_ALL ? { writes: 300, detectionMs: 5_000 } : { writes: 60, detectionMs: 1_000 }
const chosen: [Failure, Route][] = RUNS_ALL ? ALL : [['freeze', 'hosts']]

test.each(chosen)(
  'no acknowledged write is lost or doubled by a %s of a synchronous primary (%s)',
  {
    timeout: 240_000
  },
  async (failure, route) => {
    const report = await runFailover({ failure, route, isSynchronous: true, ...SIZE })
    if (RUNS_ALL) console.log(JSON.stringify({ failure, route, ...report }))
    expect(report.wrong).toEqual([])
    expect(report.failedPages).toEqual([])
    expect(report.firstWriteMs).toBeLessThan(FIRST_WRITE_MS_MAX)
    expect(report.captures).toBeGreaterThan(0)
  }
)

test('orders that an asynchronous primary acknowledged and did not send are found to be lost', {
  timeout: 240_000
}, async () => {
  const { wrong } = await runFailover({ failure: 'kill', route: 'hosts', isSynchronous: false, ...SIZE })
  expect(wrong.filter(each => each.endsWith(' was acknowledged and is lost')).length).toBeGreaterThan(0)
})
