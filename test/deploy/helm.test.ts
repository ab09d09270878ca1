import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { beforeAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { standardModules } from '../../src/app.ts'
import { createCliProgram } from '../../src/cli/program.ts'
import { loadConfig } from '../../src/config.ts'
import { version } from '../../src/version.ts'
import { testKey } from '../support/secrets.ts'
import { readDockerfile } from './image.ts'
import { RULES_FILE, readDashboards } from './monitoring-files.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CHART = join(ROOT, 'deploy/helm/cartwright')
/** What the chart installs with the values of the guide. So the tests can look at it without Helm. */
const RENDERED_FILE = join(ROOT, 'deploy/helm/rendered.yaml')
const FINISH_SECONDS = 20

const hasHelm = spawnSync('helm', ['version'], { stdio: 'ignore' }).status === 0
if (!hasHelm)
  console.warn(
    'Helm is not installed, so what the chart renders is not compared with the file in deploy/helm.'
  )

const text = (path: string) => readFile(join(ROOT, path), 'utf8')
const guide = await text('docs/kubernetes.md')
const [, guideValues = ''] = /```text\n(image:\n[\s\S]*?)```/.exec(guide) ?? []

/** Identifies everything that the rendered file is made of. */
async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(guideValues)
  const files = await Array.fromAsync(glob(['*.yaml', 'templates/*'], { cwd: CHART }))
  for (const file of files.sort()) hash.update(file).update(await readFile(join(CHART, file)))
  return hash.digest('hex')
}

function render(...flags: string[]): string {
  const common = ['shop', CHART, '--namespace', 'shop', '--values', '-']
  return execFileSync('helm', ['template', ...common, ...flags], {
    input: guideValues,
    encoding: 'utf8',
    stdio: 'pipe'
  })
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads fields of any object
type Manifest = any
const manifestsIn = (rendered: string): Manifest[] =>
  parseAllDocuments(rendered).map(document => document.toJS())

const WITHOUT_LONG_ONES = ['--set', 'monitoring.alerts=false,monitoring.dashboards=false']

async function renderWithHash(): Promise<string> {
  const command = 'UPDATE_DOCS=1 npx vitest run test/deploy/helm'
  const head = `# Rendered from the chart and the values of docs/kubernetes.md, where Helm is installed: ${command}`
  return `${head}\n# ${await hashOfSources()}\n${render(...WITHOUT_LONG_ONES)}`
}

let manifests: Manifest[]
let image: Awaited<ReturnType<typeof readDockerfile>>
beforeAll(async () => {
  if (hasHelm && process.env.UPDATE_DOCS !== undefined) await writeFile(RENDERED_FILE, await renderWithHash())
  manifests = manifestsIn(await readFile(RENDERED_FILE, 'utf8'))
  image = await readDockerfile()
})
const manifestOf = (kind: string): Manifest => manifests.find(each => each.kind === kind)
const podOf = (kind: string): Manifest => manifestOf(kind).spec.template

test.skipIf(!hasHelm)(
  'deploy/helm/rendered.yaml is what the chart renders with the values of the guide',
  async () => {
    expect(await readFile(RENDERED_FILE, 'utf8')).toBe(await renderWithHash())
  }
)

test.skipIf(!hasHelm)(
  'Helm accepts the chart, and installs the alerts and the dashboards as they are',
  async () => {
    execFileSync('helm', ['lint', '--strict', CHART, '--set', 'existingSecret=s'], { stdio: 'pipe' })
    const manifests = manifestsIn(render())
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule')
    expect(rule.spec).toEqual(parse(await readFile(RULES_FILE, 'utf8')))
    const { data } = manifests.find(({ metadata }) => metadata.name === 'shop-cartwright-dashboards')
    const dashboards = (await readDashboards()).map(({ file, ...dashboard }) => [
      `cartwright-${file}`,
      dashboard
    ])
    expect(Object.entries<string>(data).map(([file, json]) => [file, JSON.parse(json)])).toEqual(dashboards)
  }
)

test('deploy/helm/rendered.yaml was rendered after the last change of the chart and of the values in the guide', async () => {
  const [, hash] = (await readFile(RENDERED_FILE, 'utf8')).split('\n')
  expect(hash, 'render it as its first line says').toBe(`# ${await hashOfSources()}`)
})

test('the configuration and the Secret of the chart configure a process for production', async () => {
  const config = loadConfig(
    standardModules,
    {
      ...image.environment,
      ...Object.fromEntries(
        [...guide.matchAll(/--from-literal=(\w+)=/g)].map(([, name = '']) => [name, SECRETS[name]])
      )
    },
    parse(manifestOf('ConfigMap').data['config.yaml'])
  )
  expect(config).toMatchObject({
    environment: 'production',
    server: { trust_proxy: true, diagnostics_port: 9464 }
  })
  expect(config.secrets.keys).toHaveLength(1)
  const { spec } = podOf('Deployment')
  const grace: number = spec.terminationGracePeriodSeconds
  expect(grace).toBeGreaterThan((config.server.drain_seconds ?? 5) + FINISH_SECONDS)
  const [{ env, volumeMounts }] = spec.containers
  const mounted = volumeMounts.find(({ name }: Manifest) => name === 'config').mountPath
  expect(env).toEqual([{ name: 'CARTWRIGHT_CONFIG', value: `${mounted}/config.yaml` }])
})
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://shop:password@db-rw:5432/shop',
  REDIS_URL: 'redis://cache:6379',
  CARTWRIGHT__SECRETS__KEYS: JSON.stringify([testKey('k1')])
}

test('probes ask the diagnostics port of the image, and the Service leads to its other port', () => {
  const [container] = podOf('Deployment').spec.containers
  const ports = Object.fromEntries(
    container.ports.map(({ name, containerPort }: Manifest) => [name, String(containerPort)])
  )
  expect(ports).toEqual({
    http: image.environment.PORT,
    diagnostics: image.environment.CARTWRIGHT__SERVER__DIAGNOSTICS_PORT
  })
  for (const [probe, path] of [
    ['startupProbe', '/readyz'],
    ['livenessProbe', '/healthz'],
    // `/readyz` fails in all pods while the database is away, and then pages of the catalog need a pod.
    ['readinessProbe', '/healthz']
  ] as const)
    expect(container[probe].httpGet).toEqual({ path, port: 'diagnostics' })
  // `/readyz` answers within three seconds.
  expect(container.startupProbe.timeoutSeconds).toBeGreaterThan(3)
  expect(manifestOf('Service').spec.ports).toMatchObject([{ targetPort: 'http' }])
  expect(manifestOf('PodMonitor').spec.podMetricsEndpoints).toMatchObject([{ port: 'diagnostics' }])
})

test('everything that selects pods of the shop finds them, and not those of the migration', () => {
  const labels = podOf('Deployment').metadata.labels
  const others = podOf('Job').metadata.labels
  const selectors = [
    manifestOf('Deployment').spec.selector.matchLabels,
    manifestOf('Service').spec.selector,
    manifestOf('PodDisruptionBudget').spec.selector.matchLabels,
    manifestOf('PodMonitor').spec.selector.matchLabels,
    ...podOf('Deployment').spec.topologySpreadConstraints.map(
      ({ labelSelector }: Manifest) => labelSelector.matchLabels
    )
  ]
  for (const selector of selectors) {
    expect(labels).toMatchObject(selector)
    expect(others).not.toMatchObject(selector)
  }
  expect(labels[manifestOf('PodMonitor').spec.jobLabel]).toBe('cartwright')
})

test('pods run as the user of the image, without rights, and write to /tmp only', () => {
  const [user] = image.user.split(':')
  for (const kind of ['Deployment', 'Job']) {
    const { spec } = podOf(kind)
    expect(spec.automountServiceAccountToken).toBe(false)
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(user) })
    expect(spec.containers).toMatchObject([
      {
        image: `registry.example.com/cartwright:${version}`,
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] }
        }
      }
    ])
  }
  const { containers, volumes } = podOf('Deployment').spec
  const writable = containers[0].volumeMounts.filter(({ readOnly }: Manifest) => readOnly !== true)
  expect(writable).toEqual([{ name: 'tmp', mountPath: '/tmp' }])
  expect(volumes.map(({ name }: Manifest) => name)).toEqual(['config', 'tmp'])
})

test('the migration runs before an upgrade, by a command that exists', () => {
  const { metadata, spec } = manifestOf('Job')
  expect(metadata.annotations['helm.sh/hook']).toBe('pre-install,pre-upgrade')
  const [{ args, envFrom }] = spec.template.spec.containers
  expect(createCliProgram().commands.map(command => command.name())).toContain(args[0])
  expect(envFrom).toEqual([{ secretRef: { name: 'shop-secrets' } }])
  expect(manifestOf('Deployment').spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 })
})

test('the schema of the values accepts the defaults and the guide, and rejects unknown names', async () => {
  const ajv = new Ajv()
  const validate = ajv.compile(JSON.parse(await text('deploy/helm/cartwright/values.schema.json')))
  const defaults = parse(await text('deploy/helm/cartwright/values.yaml'))
  const values = { ...defaults, ...parse(guideValues) }
  expect(validate(values), JSON.stringify(validate.errors)).toBe(true)
  for (const wrong of [
    { ...values, replica: 3 },
    { ...values, existingSecret: '' },
    { ...values, ingress: { hosts: [] } }
  ])
    expect(validate(wrong)).toBe(false)
  const { appVersion } = parse(await text('deploy/helm/cartwright/Chart.yaml'))
  expect(appVersion).toBe(version)
})
