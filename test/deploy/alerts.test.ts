import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { RULES_FILE, readAlerts } from './monitoring-files.ts'

const hasPromtool = spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0
if (!hasPromtool) console.warn('Prometheus is not installed, so the alert rules are not run by promtool.')

const alerts = await readAlerts()

/** Values of a series, one a minute for 90 minutes, as promtool writes them: some that raise the alert, and some that do not. */
type Values = [raising: string, quiet: string]
const http = (suffix: string, labels = '') =>
  `http_request_duration_seconds_${suffix}{job="cartwright",route="/api/cart",instance="a"${labels}}`
const process = (metric: string) => `${metric}{job="cartwright",instance="a"}`
const QUIET_THEN = (raised: string): string => `0x60 ${raised}x30`

/** Raised by the absence of all series. */
const GONE = 'CartwrightGone'
const CASES: Readonly<Record<string, Readonly<Record<string, Values>>>> = {
  CartwrightDown: { [process('up')]: ['0x90', '1x90'] },
  CartwrightNotReady: { 'cartwright_ready{job="cartwright",instance="b"}': ['0x90', '1x90'] },
  CartwrightBlocked: { [process('cartwright_diagnostics_snapshot_age_seconds')]: ['0+60x90', '1x90'] },
  CartwrightEventLoopDelay: { [process('nodejs_eventloop_lag_p99_seconds')]: ['0.3x90', '0.05x90'] },
  CartwrightUncaughtErrors: {
    'cartwright_uncaught_errors_total{of="request",instance="a"}': ['0x75 1x15', '1x90']
  },
  CartwrightFewFilesLeft: {
    [process('process_open_fds')]: ['900x90', '700x90'],
    [process('process_max_fds')]: ['1000x90', '1000x90']
  },
  CartwrightErrors: {
    [http('count', ',status="503"')]: ['0+3x90', '0+1x90'],
    [http('count', ',status="200"')]: ['0+97x90', '0+99x90']
  },
  CartwrightSlow: {
    [http('bucket', ',le="1"')]: ['0+94x90', '0+96x90'],
    [http('bucket', ',le="2.5"')]: ['0+100x90', '0+100x90'],
    [http('bucket', ',le="+Inf"')]: ['0+100x90', '0+100x90']
  },
  CartwrightRefusesCheckouts: {
    'cartwright_requests_refused_total{class="checkout",reason="queue"}': ['0+1x90', '5x90']
  },
  CartwrightRefusesRequests: {
    'cartwright_requests_refused_total{class="browse",reason="queue"}': ['0+90x90', '0+30x90']
  },
  CartwrightDatabaseLost: { [process('cartwright_db_pool_connections')]: ['0x90', '1x90'] },
  CartwrightReadOnly: {
    [process('cartwright_db_writes_up')]: ['0x90', '1x90'],
    [process('cartwright_ready')]: ['1x90', '1x90']
  },
  CartwrightWaitsForConnections: {
    [process('cartwright_db_pool_acquire_seconds_total')]: ['0+6x90', '0+4x90'],
    [process('cartwright_db_pool_acquires_total')]: ['0+100x90', '0+100x90']
  },
  CartwrightReplicaDown: { [process('cartwright_db_replica_up')]: ['0x90', '1x90'] },
  CartwrightCacheDown: { [process('cartwright_cache_redis_up')]: ['0x90', '1x90'] },
  CartwrightEventsLate: { [process('cartwright_events_oldest_seconds')]: ['90x90', '40x90'] },
  CartwrightEventsDead: { [process('cartwright_events_dead')]: ['1x90', '0x90'] },
  CartwrightEventFeedLate: {
    [process('cartwright_event_log_oldest_unpositioned_seconds')]: ['90x90', '40x90']
  },
  CartwrightMailsLate: { [process('cartwright_notifications_oldest_seconds')]: ['1000x90', '600x90'] },
  CartwrightMailsDead: { [process('cartwright_notifications_dead')]: [QUIET_THEN('2'), '2x90'] },
  CartwrightWebhooksLate: { [process('cartwright_webhooks_oldest_seconds')]: ['4000x90', '3000x90'] },
  CartwrightWebhooksDead: { [process('cartwright_webhooks_dead')]: [QUIET_THEN('2'), '2x90'] },
  CartwrightPaymentOperationsLate: {
    [process('cartwright_payments_open_operations_oldest_seconds')]: ['4000x90', '3000x90']
  },
  CartwrightPaymentProviderDown: { [process('cartwright_payments_providers_down')]: ['1x90', '0x90'] },
  CartwrightPaymentEventsQuarantined: {
    [process('cartwright_payments_quarantined_events')]: ['1x90', '0x90']
  },
  CartwrightPaymentCallbacksRefused: {
    'cartwright_payments_callbacks_total{result="refused"}': ['0+1x90', '12x90']
  },
  CartwrightStockDiscrepancies: {
    'cartwright_inventory_findings{kind="level_differs"}': ['1x90', '0x90']
  },
  CartwrightStockLate: { [process('cartwright_inventory_requests_oldest_seconds')]: ['20x90', '5x90'] },
  CartwrightStockBatchesFail: {
    'cartwright_inventory_batches_total{result="undone"}': ['0+12x90', '0+1x90']
  },
  CartwrightTaxEngineFails: {
    'cartwright_pricing_tax_requests_total{outcome="timed_out"}': ['0+1x90', '7x90']
  },
  CartwrightCarrierFails: {
    'cartwright_shipping_rate_requests_total{outcome="failed"}': ['0+1x90', '7x90']
  }
}

/** A test of promtool: the alerts that fire after 80 minutes of these series, and no others. */
const firing = (series: Readonly<Record<string, string>>, names: readonly string[]) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  promql_expr_test: [
    {
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: '80m',
      exp_samples: names.map(name => ({ labels: `{alertname="${name}"}`, value: 1 }))
    }
  ]
})
const seriesOf = (index: 0 | 1) =>
  Object.fromEntries(
    Object.values(CASES).flatMap(series =>
      Object.entries(series).map(([name, values]) => [name, values[index]])
    )
  )

test.skipIf(!hasPromtool)(
  'each alert is raised by values beyond its limit, and not by ordinary ones',
  async () => {
    const names = Object.keys(CASES)
    expect([...names, GONE].toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted())
    const folder = await mkdtemp(join(tmpdir(), 'cartwright-alerts-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'alerts.test.yml')
    const tests = [firing(seriesOf(0), names), firing(seriesOf(1), []), firing({}, [GONE])]
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ rule_files: [RULES_FILE], evaluation_interval: '1m', tests }))
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
    expect(`${status} ${stdout}${stderr}`).toMatch(/^0 /)
  }
)

test.skipIf(!hasPromtool)('promtool accepts the alert rules without a warning', () => {
  const output = execFileSync('promtool', ['check', 'rules', '--lint-fatal', RULES_FILE], {
    encoding: 'utf8'
  })
  expect(output).toContain(`SUCCESS: ${alerts.length} rules found`)
})

test('each alert has a severity, says what to do, and names an existing section of the guide', async () => {
  const guide = await readFile(fileURLToPath(new URL('../../docs/watching.md', import.meta.url)), 'utf8')
  const anchors = [...guide.matchAll(/^##+ (.*)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-')
  )
  for (const { alert, labels, annotations } of alerts) {
    expect(labels.severity, alert).toMatch(/^(?:critical|warning)$/)
    expect(annotations.summary, alert).toMatch(/\.$/)
    expect(annotations.description, alert).toMatch(/\.$/)
    const [page, anchor] = annotations.runbook.split('#')
    expect(page, alert).toBe('docs/watching.md')
    expect(anchors, alert).toContain(anchor)
    expect(guide, alert).toContain(`\`${alert}\``)
  }
})
