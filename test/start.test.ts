import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { expensiveTest, runsEveryCase } from './lanes/every-case.ts'
import { makeDataFolder } from './support/data-folder.ts'
import { createTestDatabase } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { type Program, startProgram } from './support/program.ts'
import { SECRET_SETTINGS } from './support/secrets.ts'
import { runSql } from './support/sql.ts'

const isRoot = process.getuid?.() === 0
/** Only root may mount, and not in every container. */
const canMount = isRoot && spawnSync('/usr/bin/unshare', ['--mount', 'true']).status === 0
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 }
let folder: string
let running: Program[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cartwright-start-'))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGTERM')
    await ended
  }
  running = []
  await rm(folder, { recursive: true, force: true })
})

function start(environment: Record<string, string> = {}, options = {}): Program {
  const program = startProgram({ CARTWRIGHT_DATA: join(folder, 'data'), ...environment }, options)
  running.push(program)
  return program
}

/** Settings for a database that is migrated already, where the first start of an embedded one is not what a test is about. */
async function useDatabase(demo: 'on' | 'off'): Promise<Record<string, string>> {
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  return { DATABASE_URL: database.url, CARTWRIGHT__SHOP__DEMO: demo }
}

test("starting the program does not load Node's fetch, which a getter of its HTTP module would load", () => {
  const script = `
    await import('./src/shop.ts')
    await import('./src/cli/start.ts')
    console.log(process.moduleLoadList.filter(name => name.includes('undici')).length)`
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const args = ['--input-type=module', '--eval', script]
  expect(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' }).trim()).toBe('0')
})

describe('the first start', () => {
  test('the first start loads the demo, creates an administrator and prints requests that work; the second keeps the data', async () => {
    const first = start()
    const address = await first.listening
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    first.child.kill('SIGTERM')
    const { code, stdout } = await first.ended
    expect(code).toBe(0)
    expect(stdout).toContain('Loaded the demo catalog')
    expect(stdout.split('\n').filter(line => line.startsWith('{'))).toEqual([])
    expect(stdout).toMatch(/Administrator {2}\S+@\S+\nPassword {7}\S+/)

    expect((await stat(join(folder, 'data', 'secrets'))).mode & 0o777).toBe(0o600)

    const port = new URL(address).port
    const second = start({ PORT: port })
    await second.listening
    const requests = stdout.split('\n').filter(line => line.startsWith('  curl '))
    expect(requests).toHaveLength(3)
    for (const request of requests) {
      const answer = await promisify(execFile)('sh', ['-c', request.replace('curl ', 'curl -sf ')])
      expect(JSON.parse(answer.stdout)).toBeTypeOf('object')
    }
    second.child.kill('SIGTERM')
    expect((await second.ended).stdout).not.toContain('Password')
  })

  test('at the first start /readyz returns 503 until the demo is loaded', async () => {
    const database = await createTestDatabase()
    onTestFinished(database.drop)
    const held = new pg.Client({ connectionString: database.url })
    await held.connect()
    // The demo waits for this lock.
    await held.query('begin; lock table catalog.products in exclusive mode')
    const port = await freePort()
    const settings = { DATABASE_URL: database.url, CARTWRIGHT__SHOP__DEMO: 'on', PORT: String(port) }
    const program = start({ ...settings, CARTWRIGHT__DATABASE__LOCK_TIMEOUT_MS: '60000' })
    const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status
    await expect.poll(ready, { timeout: 60_000 }).toBe(503)
    expect(program.output.stdout).not.toContain('listens on')
    await held.query('rollback')
    await held.end()
    await program.listening
    expect(await ready()).toBe(200)
    const products = await fetch(`http://127.0.0.1:${port}/api/products?limit=1`)
    expect((await products.json()) as object).toMatchObject({ items: [{}] })
  })

  test('the first start in production prints no requests to paste, and logs how many connections it may open', async () => {
    const program = start({
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      ...(await useDatabase('off')),
      ...SECRET_SETTINGS
    })
    await program.listening
    expect(program.output.stdout).not.toMatch(/Try it|curl/)
    await expect.poll(() => program.output.stdout).toContain('opens up to 27 database connections')
  })

  test.each([
    ...(runsEveryCase ? [['USD', 1_800] as const, ['JPY', 1_800] as const] : []),
    ['KWD', 18_000] as const
  ])(
    'the first start loads the demo in the currency %s, with prices in its smallest unit',
    async (currency, price) => {
      const program = start({ ...(await useDatabase('on')), CARTWRIGHT__SHOP__CURRENCY: currency })
      const bowl = await fetch(`${await program.listening}/api/products/cafe-au-lait-bowl`)
      const variants = expect.arrayContaining([expect.objectContaining({ price })])
      const { images, ...product } = (await bowl.json()) as { images: { url: string }[] }
      expect(product).toMatchObject({ currency, variants })
      expect(images).toHaveLength(6)
      for (const { url } of images)
        expect((await fetch(url)).headers.get('content-type')).toBe('image/svg+xml')
      expect(program.output.stdout).toContain('Loaded the demo catalog: 41 products.')
    }
  )

  // Below, a command uses the database of such a shop.
  expensiveTest('the first start works without the demo and without an external database', async () => {
    const program = start({ CARTWRIGHT__SHOP__DEMO: 'off' })
    const products = await fetch(`${await program.listening}/api/products`)
    expect(await products.json()).toEqual({ items: [], next_cursor: null })
  })

  test('the first start prints no request for a disabled module', async () => {
    const program = start({ ...(await useDatabase('on')), CARTWRIGHT__MODULES__CART__ENABLED: 'false' })
    await program.listening
    expect(program.output.stdout).toContain('/api/products')
    expect(program.output.stdout).not.toContain('/api/guest-cart')
  })

  // src/embedded-postgres/open.test.ts starts PostgreSQL as one.
  test.runIf(isRoot && runsEveryCase)(
    'the first start works for an ordinary operating-system user',
    async () => {
      await chmod(folder, 0o777)
      const program = start({ HOME: folder }, { ...UNPRIVILEGED, cwd: folder })
      expect((await fetch(`${await program.listening}/readyz`)).status).toBe(200)
    }
  )
})

describe('errors that the operator can correct, each reported in one sentence with exit code 1', () => {
  async function expectSentence(program: Program, sentence: RegExp): Promise<void> {
    const { code, stderr } = await program.ended
    expect(stderr).toMatch(sentence)
    expect(stderr).not.toMatch(/^\s+at |node:internal/m)
    expect(code).toBe(1)
  }

  test('an unknown command ends with one sentence and exit code 1', async () => {
    await expectSentence(
      start({}, { args: ['strt'] }),
      /^error: unknown command 'strt'\n\(Did you mean start\?\)\nSee "cartwright --help"\.\n$/
    )
  })

  test('an unknown setting and a wrong value are reported together in one sentence, with exit code 1', async () => {
    const program = start({ CARTWRIGHT__CART__LINE_MAX: '5', CARTWRIGHT__SERVER__PORT: 'many' })
    await expectSentence(program, /cart\.line_max[\s\S]*lines_max[\s\S]*server\.port/)
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })

  test('a wrong setting stops the start of an existing shop with one sentence, and its database is stopped again', async () => {
    await makeDataFolder(join(folder, 'data'))
    await expectSentence(
      start({ CARTWRIGHT__CART__LINES_MAX: 'many' }),
      /cart\.lines_max: must be a whole number/
    )
    expect(existsSync(join(folder, 'data', 'postgres', 'postmaster.pid'))).toBe(false)
  })

  test('a configuration file that is not YAML ends the start with one sentence and exit code 1', async () => {
    const path = join(folder, 'config.yaml')
    await writeFile(path, 'server: [')
    await expectSentence(start({ CARTWRIGHT_CONFIG: path }), /config\.yaml/)
  })

  test('a module whose required module is disabled ends the start with one sentence and exit code 1', async () => {
    const program = start({ CARTWRIGHT__MODULES__CATALOG__ENABLED: 'false' })
    await expectSentence(program, /module cart requires module catalog.*modules\.catalog\.enabled: true/)
  })

  test('a port that is in use ends the start with one sentence and exit code 1', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const program = start({ ...(await useDatabase('off')), PORT: String(port) })
    await expectSentence(program, new RegExp(`^Port ${port} on 127.0.0.1 is in use`))
    // The next start will say it.
    expect(program.output.stdout).not.toContain('Password')
    other.close()
  })

  test('an unreachable database ends the start with one sentence that does not show its password', async () => {
    const program = start({ DATABASE_URL: 'postgres://shop:s3cret-word@127.0.0.1:1/shop' })
    await expectSentence(program, /^Cannot reach the database: .*ECONNREFUSED.*DATABASE_URL/)
    expect((await program.ended).stderr).not.toContain('s3cret-word')
  })

  test('a database error while the demo is loaded ends the start before an administrator is created', async () => {
    const database = await createTestDatabase()
    const refusal = `raise exception 'the disk is full'`
    await runSql(
      database.url,
      `create function refuse() returns trigger language plpgsql as $$ begin ${refusal}; end $$;
       create trigger refuse before insert on catalog.products execute function refuse()`
    )
    const program = start({ DATABASE_URL: database.url, CARTWRIGHT__SHOP__DEMO: 'on' })
    await expectSentence(
      program,
      /^The demo catalog cannot be loaded: .*the disk is full\. Start without it: CARTWRIGHT__SHOP__DEMO=off/
    )
    await database.drop()
  })

  test("a catalog without prices in the shop's currency ends the start with one sentence, until prices are imported", async () => {
    const database = await createTestDatabase()
    const own = { DATABASE_URL: database.url, CARTWRIGHT__SHOP__DEMO: 'on' }
    const stop = async (program: Program) => {
      await program.listening
      program.child.kill('SIGTERM')
      expect((await program.ended).code).toBe(0)
    }
    await stop(start(own))
    const inYen = { ...own, CARTWRIGHT__SHOP__CURRENCY: 'JPY' }
    await expectSentence(
      start(inYen),
      /^The catalog has prices in USD and none in JPY, .*set shop\.currency to USD again, or .*import <file>\)\.\n$/
    )
    const file = join(folder, 'yen.csv')
    await writeFile(file, 'Handle,Title,Variant Price\nmug,Mug,1800\n')
    expect((await start(inYen, { args: ['import', file] }).ended).stdout).toContain('1 created')
    await stop(start(inYen))
    await database.drop()
  })

  test('missing secrets in production end the start with one sentence and the command that generates some', async () => {
    const database = await createTestDatabase()
    const program = start({ NODE_ENV: 'production', DATABASE_URL: database.url })
    await expectSentence(
      program,
      /secrets\.keys: must hold a key in production with DATABASE_URL.*openssl rand -base64 32/
    )
    await database.drop()
  })

  test('a second process with the same data folder ends with one sentence and exit code 1', async () => {
    await makeDataFolder(join(folder, 'data'))
    const first = start({ CARTWRIGHT__SHOP__DEMO: 'off' })
    await first.listening
    await expectSentence(start(), new RegExp(`in use by process ${first.child.pid}`))
  })

  const places: Record<string, (place: string) => Promise<string>> = {
    'where nothing can be made': async () => '/proc/nope',
    'that is a file': async place => writeFile(place, '').then(() => place),
    'below a file': async place => writeFile(place, '').then(() => join(place, 'data')),
    'with a name that is too long': async place => join(place, 'x'.repeat(300)),
    'with a path that is too long': async place =>
      join(place, ...Array.from({ length: 50 }, () => 'x'.repeat(200))),
    'that is a link to nothing': async place => symlink(join(place, 'gone'), place).then(() => place),
    'that is a link to itself': async place => symlink(place, place).then(() => place),
    'that is a device': async () => '/dev/null'
  }
  test.each(Object.keys(places))(
    'a data folder %s ends the start with one sentence and exit code 1',
    async what => {
      const place = (await places[what]?.(join(folder, 'place'))) ?? ''
      const program = start({ CARTWRIGHT_DATA: place })
      await expectSentence(
        program,
        /^The data folder \/.* cannot be used \(E[A-Z]+: .*set CARTWRIGHT_DATA to another folder\.\n$/
      )
    }
  )

  test.runIf(isRoot)(
    'a data folder of another user, or an unreadable one, ends the start with one sentence',
    async () => {
      await mkdir(join(folder, 'closed', 'data'), { recursive: true })
      await chmod(join(folder, 'closed'), 0o700)
      for (const place of [folder, join(folder, 'new'), join(folder, 'closed', 'data')]) {
        const program = start({ HOME: folder, CARTWRIGHT_DATA: place }, { ...UNPRIVILEGED, cwd: '/' })
        await expectSentence(
          program,
          /^(The data folder )?\/?.*cannot be (used|written).*another folder\.\n$/
        )
      }
    }
  )

  test.runIf(canMount)(
    'a data folder on a full disk, or one that cannot be written, ends the start with one sentence',
    { timeout: 120_000 },
    async () => {
      const disk = join(folder, 'disk')
      await mkdir(disk)
      const withDisk = async (options: string, work: () => Promise<void>) => {
        execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk])
        await work().finally(() => execFileSync('/bin/umount', [disk]))
      }
      const startThere = () => start({ CARTWRIGHT_DATA: join(disk, 'data'), CARTWRIGHT__SHOP__DEMO: 'off' })
      const isFull =
        /^There is no space left on the disk of \S+: make room, or set CARTWRIGHT_DATA to another folder\.\n$/
      await withDisk('ro', () => expectSentence(startThere(), /^The data folder .* cannot be used \(EROFS/))
      // Too small for the folder's own files.
      await withDisk('size=4k', () => expectSentence(startThere(), isFull))
      if (!runsEveryCase) return
      // Too small for a new database, and for a database that exists.
      await withDisk('size=30m', () => expectSentence(startThere(), isFull))
      await withDisk('size=90m', async () => {
        const first = startThere()
        await first.listening
        first.child.kill('SIGTERM')
        await first.ended
        await expect(writeFile(join(disk, 'others'), Buffer.alloc(96 * 1024 * 1024))).rejects.toThrow(
          'ENOSPC'
        )
        await expectSentence(startThere(), isFull)
      })
    }
  )

  test('a command with a file that does not exist ends with one sentence and exit code 1', async () => {
    const program = start({}, { args: ['import', join(folder, 'missing.csv')] })
    await expectSentence(program, /missing\.csv/)
  })
})

test('SIGTERM lets a request in progress complete, and then ends the process with exit code 0', async () => {
  const program = start({ ...(await useDatabase('off')), CARTWRIGHT__SERVER__DRAIN_SECONDS: '1' })
  const address = await program.listening
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  program.child.kill('SIGTERM')
  const statuses: number[] = []
  while (statuses.at(-1) !== 503) statuses.push((await fetch(`${address}/readyz`)).status)
  expect((await fetch(`${address}/api/products`)).status).toBe(200)
  expect((await program.ended).code).toBe(0)
})

test("a command uses the database of the running shop, and root also that of an ordinary user's shop", async () => {
  await chmod(folder, 0o777)
  const file = join(folder, 'products.csv')
  await writeFile(file, 'Handle,Title,Variant Price\nmug,Mug,10\n')
  // src/embedded-postgres/open.test.ts has root use the database of an ordinary user, without a shop.
  const owners = isRoot && runsEveryCase ? [{}, { ...UNPRIVILEGED, cwd: folder }] : [{}]
  for (const [index, owner] of owners.entries()) {
    const settings = { CARTWRIGHT_DATA: join(folder, `data${index}`), CARTWRIGHT__SHOP__DEMO: 'off' }
    if (Object.keys(owner).length === 0) await makeDataFolder(settings.CARTWRIGHT_DATA)
    const address = await start({ HOME: folder, ...settings }, owner).listening
    const { code, stdout } = await start(settings, { args: ['import', file] }).ended
    expect([code, stdout]).toEqual([0, expect.stringContaining('products: 1 created')])
    expect((await fetch(`${address}/api/products/mug`)).status).toBe(200)
  }
})

test('the requests in the README work, twice in a row', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const script = /## A first cart\n\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const address = await start(await useDatabase('on')).listening
  const own = script.replaceAll('http://127.0.0.1:8080', address)
  const env = { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env.PATH}` }
  for (let run = 0; run < 2; run += 1) {
    const { stdout } = await promisify(execFile)('sh', ['-euc', own], { env })
    expect(stdout).toContain('"status":"merged"')
    expect(stdout).toContain('BOWL-CAL-WHT')
  }
})
