import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { standardModules } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { testKey } from '../support/secrets.ts'
import { readDockerfile } from './image.ts'
import { readCompose, readUnit, variablesOf } from './settings-files.ts'

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url))
const KEYS = JSON.stringify([testKey('k1')])
/** The process needs this long to finish requests after it has drained. */
const FINISH_SECONDS = 20

const image = await readDockerfile()
const compose = await readCompose({
  POSTGRES_PASSWORD: 'secret',
  GRAFANA_PASSWORD: 'secret',
  CARTWRIGHT_SECRETS_KEYS: KEYS
})
const unit = await readUnit(8080)

const hasSystemd = spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).status === 0
if (!hasSystemd) console.warn('systemd is not installed, so it does not check the unit.')

/** The configuration of a process. It rejects a setting that does not exist, or that has a wrong value. */
const configOf = (environment: Record<string, string>) => loadConfig(standardModules, environment, {})

test('the settings of the compose file configure two processes for production', async () => {
  const { shop } = compose.services
  const config = configOf({ ...image.environment, ...shop?.environment })
  expect(config).toMatchObject({
    environment: 'production',
    server: { trust_proxy: true, diagnostics_port: 9464, private_metrics: true }
  })
  expect(shop?.scale).toBe(2)
  const grace = Number(/^(\d+)s$/.exec(shop?.stop_grace_period ?? '')?.[1])
  expect(grace).toBeGreaterThan((config.server.drain_seconds ?? 5) + FINISH_SECONDS)
  expect(new URL(config.database.url)).toMatchObject({ hostname: 'database', password: 'secret' })
  expect(Object.keys(compose.services)).toContain(new URL(config.cache.url).hostname)
  await expect(readCompose({ POSTGRES_PASSWORD: 'x' })).rejects.toThrow('CARTWRIGHT_SECRETS_KEYS')
})

test('the compose file conforms to its specification, and the files and services that it names exist', async () => {
  const schema = JSON.parse(await readFile(new URL('compose-spec.json', import.meta.url), 'utf8'))
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  const problemsOf = (file: object) => (ajv.validate(schema, file) ? [] : ajv.errors)
  expect(problemsOf(compose)).toEqual([])
  const planted = { ...compose, services: { shop: { ...compose.services.shop, restarts: 'always' } } }
  expect(problemsOf(planted)).not.toEqual([])

  for (const [name, service] of Object.entries(compose.services)) {
    for (const other of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty(other)
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      if (source.startsWith('.')) expect(existsSync(join(DEPLOY, 'compose', source)), source).toBe(true)
      else expect(compose.volumes, `${name}: ${source}`).toHaveProperty(source)
    }
  }
})

test('the guide writes the variables that the compose file needs', async () => {
  const guide = await readFile(fileURLToPath(new URL('../../docs/deploying.md', import.meta.url)), 'utf8')
  const [command = ''] = /^cat >\.env <<END\n[\s\S]*?^END$/m.exec(guide) ?? []
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-compose-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  execFileSync('sh', ['-euc', command], { cwd: folder })
  const lines = (await readFile(join(folder, '.env'), 'utf8')).trim().split('\n')
  const variables = lines.map(line => line.split(/=(.*)/, 2) as [string, string])
  const { shop } = (await readCompose(Object.fromEntries(variables))).services
  const { secrets } = configOf({ ...image.environment, ...shop?.environment })
  expect(secrets.keys).toMatchObject([{ id: 'k1' }])
})

test('Prometheus of the compose file asks the diagnostics port of the shop, and Grafana asks Prometheus', async () => {
  const file = async (path: string) => parse(await readFile(join(DEPLOY, path), 'utf8'))
  const { scrape_configs, rule_files } = await file('compose/prometheus.yml')
  const port = Number(image.environment.CARTWRIGHT__SERVER__DIAGNOSTICS_PORT)
  expect(scrape_configs).toMatchObject([
    { job_name: 'cartwright', dns_sd_configs: [{ names: ['shop'], port }] }
  ])
  const rules = `../prometheus/${rule_files[0]}:/etc/prometheus/${rule_files[0]}:ro`
  expect(compose.services.prometheus?.volumes).toContain(rules)
  const { datasources } = await file('grafana/provisioning/datasources/prometheus.yml')
  expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }])
  const { providers } = await file('grafana/provisioning/dashboards/cartwright.yml')
  const dashboards = `../grafana/dashboards:${providers[0].options.path}:ro`
  expect(compose.services.grafana?.volumes).toContain(dashboards)
})

test('the collector of the compose file accepts traces and metrics where the guide sends them, and passes traces on', async () => {
  const guide = await readFile(fileURLToPath(new URL('../../docs/deploying.md', import.meta.url)), 'utf8')
  const [line = ''] = /TRACING_URL=\S+ and TRACING_METRICS_SECONDS=\d+/.exec(guide.replaceAll('`', '')) ?? []
  const variables = Object.fromEntries(line.split(' and ').map(each => each.split('=')))
  const { services } = await readCompose({
    POSTGRES_PASSWORD: 'secret',
    GRAFANA_PASSWORD: 'secret',
    CARTWRIGHT_SECRETS_KEYS: KEYS,
    ...variables
  })
  const { tracing } = configOf({ ...image.environment, ...services.shop?.environment })
  expect(tracing.metrics_seconds).toBeGreaterThan(0)
  const { hostname, port } = new URL(tracing.url)
  const mounted = '/etc/otelcol/config.yaml'
  expect(services[hostname]?.volumes).toEqual([`./collector.yaml:${mounted}:ro`])

  const collector = parse(await readFile(join(DEPLOY, 'compose/collector.yaml'), 'utf8'))
  expect(collector.receivers.otlp.protocols.http.endpoint).toBe(`0.0.0.0:${port}`)
  const { pipelines } = collector.service
  expect(Object.keys(pipelines).sort()).toEqual(['metrics', 'traces'])
  for (const pipeline of Object.values<Record<string, string[]>>(pipelines)) {
    expect(pipeline.receivers).toEqual(['otlp'])
    for (const [kind, names] of Object.entries(pipeline))
      for (const name of names) expect(collector[kind], kind).toHaveProperty([name])
  }
  const [exporter] = pipelines.traces.exporters
  const [host = ''] = collector.exporters[exporter].endpoint.split(':')
  expect(services).toHaveProperty(host)
})

test('the systemd unit configures a process for production, and starts it as the image does', async () => {
  const [environment = ''] = unit.Environment ?? []
  const config = configOf({
    ...variablesOf(environment),
    DATABASE_URL: 'postgres://shop@127.0.0.1/shop',
    CARTWRIGHT__SECRETS__KEYS: KEYS
  })
  expect(config).toMatchObject({
    environment: 'production',
    server: { port: 8080, diagnostics_port: 18_080, private_metrics: true }
  })
  expect(Number(unit.TimeoutStopSec)).toBeGreaterThan(5 + FINISH_SECONDS)
  expect(Number(unit.LimitNOFILE)).toBeGreaterThan(config.server.connections_max)
  expect(unit.ExecStart).toEqual([`/usr/local/bin/${[...image.entrypoint, ...image.command].join(' ')}`])
})

test.skipIf(!hasSystemd)('systemd accepts the unit, and finds it safe', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-unit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const text = await readFile(join(DEPLOY, 'systemd/cartwright@.service'), 'utf8')
  const file = join(folder, 'cartwright@8080.service')
  await writeFile(file, text.replace('/usr/local/bin/node', process.execPath))
  const verify = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  expect(`${verify.status} ${verify.stdout}${verify.stderr}`).toBe('0 ')
  const flags = ['security', '--offline=true', '--no-pager', '--threshold=20', file]
  expect(() => execFileSync('systemd-analyze', flags, { stdio: 'ignore' })).not.toThrow()
})
