import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, globSync, readFileSync, renameSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../src/embedded-postgres/open.ts'
import { databaseNamed } from './database-name.ts'

/**
 * A PostgreSQL with a migrated database, the template, which is cloned for each test. `temporary` is a folder for the files of
 * tests, which is removed with it. `cluster` is the data folder of a shop that has been migrated, to be copied.
 */
export type TestServer = {
  url: string
  templateName: string
  temporary?: string
  cluster?: string
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MEMORY = '/dev/shm'
const ROOM_BYTES_MIN = 4 * 1_073_741_824
/** Several shops of several processes are tested simultaneously. */
const CONNECTIONS_MAX = 300
const TEMPLATE = 'cartwright_template'
const WEEK_MS = 7 * 86_400_000
/** As /tmp: every user creates files there, and removes only their own. */
const OPEN_FOLDER = 0o1777
/** The data need not survive a power cut. */
const SETTINGS = 'fsync = off\nfull_page_writes = off\n'

/** The server that DATABASE_URL names, else an embedded one in a temporary folder. */
export async function openTestServer(): Promise<TestServer> {
  const url = process.env.DATABASE_URL
  if (url === undefined || url === '') return openEmbedded()
  const templateName = `${TEMPLATE}_${process.pid}`
  await makeTemplate(url, templateName)
  return { url, templateName, stop: () => query(url, `drop database ${templateName}`) }
}

async function openEmbedded(): Promise<TestServer> {
  const folder = await mkdtemp(join(await quickFolder(), 'cartwright-test-'))
  const removal = removeAfterDeath(folder)
  // The server runs as another user when the tests run as root, and that user reads the folder.
  await chmod(folder, 0o755)
  const cached = join(ROOT, 'node_modules/.cache/test-database', digestOfTemplate())
  if (!existsSync(cached)) await makeCluster(folder, cached)
  copy(cached, join(folder, 'postgres'))
  const server = await openEmbeddedPostgres({ folder, mode: 'own', connectionsMax: CONNECTIONS_MAX })
  // Its first connection writes down what PostgreSQL has to find out about a catalog, which is cloned, too: 3 ms a clone.
  await query(databaseNamed(server.url, TEMPLATE), 'select')
  const temporary = join(folder, 'tmp')
  await mkdir(temporary)
  await chmod(temporary, OPEN_FOLDER)
  return {
    url: server.url,
    templateName: TEMPLATE,
    temporary,
    cluster: cached,
    stop: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
      removal.stdin.end()
    }
  }
}

/**
 * A folder in memory, where there is one with enough room that lets programs run. A database is some 400 files, and thousands
 * of databases are created and dropped. On ext4 a fifth of the time was spent on the search for inodes that were not just
 * deleted (2026-11). Folders with data of their own, which tests make, copy and remove, are as many files.
 */
async function quickFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize >= ROOM_BYTES_MIN && !isMountedNoexec(MEMORY) ? MEMORY : tmpdir()
}

/** Whether no program may run from there, as in containers. */
function isMountedNoexec(folder: string): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const options = mounts.map(line => line.split(' ')).findLast(([, place]) => place === folder)?.[3] ?? ''
  return options.split(',').includes('noexec')
}

/** Waits for the end of this process and its server, however they end, and removes the folder. */
function removeAfterDeath(folder: string) {
  const script = `
    read -r _
    for _ in $(seq 300); do
      pid=$(head -n 1 "$1/postgres/postmaster.pid" 2>/dev/null) && kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    rm -rf "$1"`
  const child = spawn('/bin/sh', ['-c', script, 'cartwright-test-folder', folder], {
    // Ctrl-C in the terminal does not reach it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore']
  })
  child.unref()
  return child
}

/**
 * What the template is made of: the migrations, and how a cluster and the template are made. The week is part of it, because
 * the template has the partitions of the next four weeks.
 */
function digestOfTemplate(): string {
  const paths = globSync(['src/**/*.sql', 'src/embedded-postgres/*.ts'], { cwd: ROOT })
  const digest = createHash('sha256').update(`${Math.floor(Date.now() / WEEK_MS)}`)
  for (const path of [...paths.sort(), 'src/app.ts', 'test/support/test-server.ts', 'package-lock.json'])
    digest.update(`${path}\0`).update(readFileSync(join(ROOT, path)))
  return digest.digest('hex').slice(0, 16)
}

/** Makes a cluster with the template in `folder`, and moves it to `cached` for this run and later ones. */
async function makeCluster(folder: string, cached: string): Promise<void> {
  const server = await openEmbeddedPostgres({ folder, mode: 'own' })
  try {
    await makeTemplate(server.url, TEMPLATE)
    const template = databaseNamed(server.url, TEMPLATE)
    await compactCatalogs(template)
    // The one that a shop uses in a copy of this cluster.
    const { pathname } = new URL(server.url)
    const name = pathname.slice(1)
    await query(template, `drop database ${name}`)
    await query(template, `create database ${name} template ${TEMPLATE} strategy file_copy`)
  } finally {
    await server.stop()
  }
  const cluster = join(folder, 'postgres')
  appendFileSync(join(cluster, 'postgresql.auto.conf'), SETTINGS)
  const parent = dirname(cached)
  await mkdir(parent, { recursive: true })
  const fresh = await mkdtemp(join(parent, 'new-'))
  copy(cluster, join(fresh, 'postgres'))
  await rm(cluster, { recursive: true })
  try {
    renameSync(join(fresh, 'postgres'), cached)
  } catch (error) {
    // Another run was faster.
    if (!existsSync(cached)) throw error
  }
  const old = (await readdir(parent)).filter(name => name !== basename(cached) && !name.startsWith('new-'))
  for (const path of [fresh, ...old.map(name => join(parent, name))])
    await rm(path, { recursive: true, force: true })
}

/** With its owner, which Node's own copy does not keep. */
function copy(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`cp -a ${from} ${to}: ${stderr}`)
}

async function makeTemplate(url: string, name: string): Promise<void> {
  // Loaded only here, because most runs find the template in the cache.
  const [{ standardModules: modules }, { migrationSources }, { migrate }] = await Promise.all([
    import('../../src/app.ts'),
    import('../../src/module.ts'),
    import('../../src/platform/postgres/migrate.ts')
  ])
  await query(url, `create database ${name} encoding 'UTF8' template template0`)
  await migrate(databaseNamed(url, name), migrationSources(modules))
}

/**
 * Rewrites the tables of PostgreSQL itself. A clone copies and deletes each of their files, and 77 of 800 only record free
 * space (2026-11). Other tables stay as they are, because it would tell the planner that they are empty.
 */
async function compactCatalogs(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared`
    )
    for (const { name } of rows) await client.query(`vacuum full ${name}`)
  } finally {
    await client.end()
  }
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
