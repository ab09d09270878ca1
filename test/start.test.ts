import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Program, startProgram } from './support/program.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = { uid: 65_534, gid: 65_534 }
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

describe('the first start', () => {
  test('loads the demo, makes an admin, and prints requests that work; the second keeps the data', async () => {
    const first = start()
    const address = await first.listening
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    first.child.kill('SIGTERM')
    const { code, stdout } = await first.ended
    expect(code).toBe(0)
    expect(stdout).toContain('Loaded the demo catalog')
    expect(stdout).toMatch(/Administrator {2}\S+@\S+\nPassword {7}\S+/)

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

  test('needs no demo and no database of ours', async () => {
    const program = start({ CARTWRIGHT__SHOP__DEMO: 'off' })
    const products = await fetch(`${await program.listening}/api/products`)
    expect(await products.json()).toEqual({ items: [], next_cursor: null })
  })

  test.runIf(isRoot)('works for an ordinary user', async () => {
    await chmod(folder, 0o777)
    const program = start({ HOME: folder }, { ...NOBODY, cwd: folder })
    expect((await fetch(`${await program.listening}/readyz`)).status).toBe(200)
  })
})

describe('what the operator can mend is one sentence and exit code 1:', () => {
  async function expectSentence(program: Program, sentence: RegExp): Promise<void> {
    const { code, stderr } = await program.ended
    expect(stderr).toMatch(sentence)
    expect(stderr).not.toMatch(/^\s+at |node:internal/m)
    expect(code).toBe(1)
  }

  test('an unknown key and a wrong value, both at once', async () => {
    const program = start({ CARTWRIGHT__CART__LINE_MAX: '5', CARTWRIGHT__SERVER__PORT: 'many' })
    await expectSentence(program, /cart\.line_max[\s\S]*lines_max[\s\S]*server\.port/)
  })

  test('a configuration file that is not YAML', async () => {
    const path = join(folder, 'config.yaml')
    await writeFile(path, 'server: [')
    await expectSentence(start({ CARTWRIGHT_CONFIG: path }), /config\.yaml/)
  })

  test('a module without the one it requires', async () => {
    const program = start({ CARTWRIGHT__MODULES__CATALOG__ENABLED: 'false' })
    await expectSentence(program, /module cart requires module catalog.*modules\.catalog\.enabled: true/)
  })

  test('an occupied port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    await expectSentence(start({ PORT: String(port) }), new RegExp(`^Port ${port} on 127.0.0.1 is in use`))
    other.close()
  })

  test('a database that cannot be reached, without showing its password', async () => {
    const program = start({ DATABASE_URL: 'postgres://shop:s3cret-word@127.0.0.1:1/shop' })
    await expectSentence(program, /^Cannot reach the database: .*ECONNREFUSED.*DATABASE_URL/)
    expect((await program.ended).stderr).not.toContain('s3cret-word')
  })

  test('a second process on the same folder', async () => {
    const first = start()
    await first.listening
    await expectSentence(start(), new RegExp(`in use by process ${first.child.pid}`))
  })

  test.runIf(isRoot)('a folder that cannot be written', async () => {
    await expectSentence(start({ HOME: folder }, { ...NOBODY, cwd: '/' }), /data/)
  })

  test('a file that is not there, for a command', async () => {
    const program = start({}, { args: ['import', join(folder, 'missing.csv')] })
    await expectSentence(program, /missing\.csv/)
  })
})

test('SIGTERM lets a request under way end, and then ends the process with exit code 0', async () => {
  const program = start({ CARTWRIGHT__SERVER__DRAIN_SECONDS: '1' })
  const address = await program.listening
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  program.child.kill('SIGTERM')
  const statuses: number[] = []
  while (statuses.at(-1) !== 503) statuses.push((await fetch(`${address}/readyz`)).status)
  expect((await fetch(`${address}/api/products`)).status).toBe(200)
  expect((await program.ended).code).toBe(0)
})

test('the requests of the README work as they stand there', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const script = /## A first cart\n\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const address = await start().listening
  const own = script.replaceAll('http://127.0.0.1:8080', address)
  const env = { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env.PATH}` }
  const { stdout } = await promisify(execFile)('bash', ['-euc', own], { env })
  expect(stdout).toContain('"status":"merged"')
  expect(stdout).toContain('BOWL-CAL-WHT')
})
