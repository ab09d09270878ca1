import { readFile } from 'node:fs/promises'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { until } from '../faults/until.ts'
import { createTestDatabase } from '../support/database.ts'
import { type Family, readExposition } from '../support/exposition.ts'
import { freePort } from '../support/free-port.ts'
import { startProgram } from '../support/program.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import { listExpressions, PROMETHEUS_FILE, readAlerts, readDashboards } from './monitoring-files.ts'
import { hasPrometheus, startPrometheus } from './prometheus.ts'
import { readExpression } from './promql.ts'

const alerts = await readAlerts()
const dashboards = await readDashboards()
const expressions = listExpressions(alerts, dashboards)
/** Labels that Prometheus adds to each series of a target. */
const TARGET_LABELS = ['job', 'instance']

const PATHS = ['products', 'cart', 'guest-cart', 'checkouts', 'orders']
const POLL_MS = 200
/** Longer than several scrapes and evaluations. */
const PATIENCE_MS = 30_000

/**
 * One shop for all tests, with everything on that adds metrics: all modules, a diagnostics port, Redis, which does not answer, and a
 * replica, which is no standby.
 */
let shop: {
  diagnostics: string
  request(): Promise<unknown>
  metrics(): Promise<Map<string, Family>>
  drop(): Promise<void>
}
beforeAll(async () => {
  const database = await createTestDatabase()
  const port = await freePort()
  const program = startProgram({
    ...SECRET_SETTINGS,
    DATABASE_URL: database.url,
    CARTWRIGHT__DATABASE__REPLICA_URL: database.url,
    REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(port),
    CARTWRIGHT__LOG__LEVEL: 'fatal'
  })
  const origin = await program.listening
  const diagnostics = `127.0.0.1:${port}`
  // Requests of each kind of route that an expression names, until their durations and a garbage collection are exposed.
  const request = () => Promise.all(PATHS.map(path => fetch(`${origin}/api/${path}`)))
  const metrics = async () =>
    readExposition(await (await fetch(`http://${diagnostics}/metrics`)).text()).families
  const isExposed = async () => {
    await request()
    const families = await metrics()
    return ['http_request_duration_seconds', 'nodejs_gc_duration_seconds'].every(name =>
      families.get(name)?.samples.some(({ value }) => value > 0)
    )
  }
  await until('metrics of requests and garbage collections are exposed', isExposed, undefined, POLL_MS)
  shop = { diagnostics, request, metrics, drop: database.drop }
  return async () => {
    program.child.kill('SIGKILL')
    await program.ended
    await database.drop().catch(() => {})
  }
})

/** What is wrong with an expression, given the metrics of a shop. */
function findProblems({ expr, shown }: { expr: string; shown: string[] }, families: Map<string, Family>) {
  const { selectors, groupings } = readExpression(expr)
  if (selectors.length === 0) return ['it has no metric']
  const known = new Set(TARGET_LABELS)
  const problems = selectors.flatMap(({ metric, matchers }) => {
    if (metric === 'up') return []
    const family = families.get(metric) ?? families.get(metric.replace(/_(?:bucket|sum|count)$/, ''))
    const samples = (family?.samples ?? []).filter(({ name }) => name === metric)
    if (samples.length === 0) return [`no metric is called ${metric}`]
    const labels = new Set(samples.flatMap(each => Object.keys(each.labels)))
    for (const label of labels) known.add(label)
    return matchers
      .filter(({ label }) => !TARGET_LABELS.includes(label))
      .flatMap(({ label, operator, value }) => {
        if (!labels.has(label)) return [`${metric} has no label ${label}`]
        const isMatch = (text = '') =>
          operator === '=~' ? new RegExp(`^(?:${value})$`).test(text) : text === value
        // A shop without faults has no failed requests.
        const isThere = label === 'status' || samples.some(each => isMatch(each.labels[label]))
        return isThere ? [] : [`no ${label} of ${metric} is ${value}`]
      })
  })
  const result = groupings.length === 0 ? known : new Set(groupings)
  return [
    ...problems,
    ...groupings
      .filter(label => !known.has(label))
      .map(label => `it groups by ${label}, which no metric has`),
    ...shown
      .filter(label => !result.has(label))
      .map(label => `its text shows ${label}, which it does not have`)
  ]
}

test('every metric, label and value in the alerts and dashboards is one that the shop exposes', async () => {
  const families = await shop.metrics()
  const problems = expressions.flatMap(each =>
    findProblems(each, families).map(problem => `${each.where}: ${problem}`)
  )
  expect(problems).toEqual([])
  expect(expressions.length).toBeGreaterThan(100)
})

test.each([
  ['sum(cartwright_event_dead)', 'no metric is called cartwright_event_dead'],
  ['rate(http_request_duration_seconds[5m])', 'no metric is called http_request_duration_seconds'],
  ['cartwright_requests_refused_total{kind="bulk"}', 'cartwright_requests_refused_total has no label kind'],
  [
    'cartwright_requests_refused_total{class="cart"}',
    'no class of cartwright_requests_refused_total is cart'
  ],
  ['sum by (kind) (cartwright_events_dead)', 'it groups by kind, which no metric has'],
  ['1 > 0', 'it has no metric']
])('the check of expressions finds a wrong name in %s', async (expr, problem) => {
  expect(findProblems({ expr, shown: [] }, await shop.metrics())).toEqual([problem])
})

test('panels of a dashboard do not overlap, and dashboards have ids and titles of their own', () => {
  for (const { file, panels } of dashboards) {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`)
    )
    expect(new Set(cells).size, file).toBe(cells.length)
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w)), file).toBeLessThanOrEqual(24)
  }
  for (const key of ['uid', 'title'] as const)
    expect(new Set(dashboards.map(each => each[key])).size).toBe(dashboards.length)
})

test.skipIf(!hasPrometheus)(
  'Prometheus scrapes the shop, evaluates every alert rule, and has data for every panel',
  async () => {
    const config = (await readFile(PROMETHEUS_FILE, 'utf8'))
      .replaceAll(/_interval: \S+/g, '_interval: 1s')
      .replace(/targets: \[.*\]/, `targets: ['${shop.diagnostics}']`)
    expect(config).toContain(shop.diagnostics)
    const prometheus = await startPrometheus(config)
    onTestFinished(prometheus.close)
    const isScraped = async () => (await prometheus.query('up{job="cartwright"} == 1')).length === 1
    await until('the shop is scraped', isScraped, undefined, POLL_MS)
    expect(await prometheus.rules()).toHaveLength(alerts.length)
    const areEvaluated = async () => (await prometheus.rules()).every(({ health }) => health !== 'unknown')
    await until('all rules are evaluated', areEvaluated, undefined, POLL_MS)
    expect((await prometheus.rules()).filter(({ health }) => health !== 'ok')).toEqual([])

    // A shop without faults has no failed requests: those that a client caused stand for them.
    const exprOf = ({ expr }: { expr: string }) =>
      expr.replaceAll('$__rate_interval', '1m').replace('5..', '4..')
    let empty = expressions.slice(alerts.length)
    const haveData = async () => {
      await shop.request()
      const results = await Promise.all(empty.map(each => prometheus.query(exprOf(each))))
      empty = empty.filter((_, index) => results[index]?.length === 0)
      return empty.length === 0
    }
    await until('all panels have data', haveData, PATIENCE_MS, POLL_MS).catch(() => {})
    expect(empty.map(({ where }) => where)).toEqual([])
  }
)

test('a replica that cannot be used is DOWN in /readyz of the diagnostics port, and the shop is ready', async () => {
  const ready = await fetch(`http://${shop.diagnostics}/readyz`)
  expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'READY', replica: 'DOWN' }])
})

test('a shop that has lost its database has no connections in its metrics, and is not ready', async () => {
  await shop.drop()
  const values = async () => {
    const families = await shop.metrics()
    const names = ['cartwright_db_pool_connections', 'cartwright_ready']
    return names.flatMap(name => families.get(name)?.samples.map(({ value }) => value))
  }
  await expect.poll(values).toEqual([0, 0])
})
