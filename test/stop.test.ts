import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { parseRaw } from './support/gateway.ts'
import { type Program, startProgram } from './support/program.ts'

/** Real programs on one database, which are stopped when the test has finished. */
async function usePrograms(settings: Record<string, string> = {}) {
  const database = await createTestDatabase()
  const running: Program[] = []
  onTestFinished(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    for (const { ended } of running) await ended
    await database.drop()
  })
  return (more: Record<string, string> = {}): Program => {
    const program = startProgram({
      DATABASE_URL: database.url,
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
      ...settings,
      ...more
    })
    running.push(program)
    return program
  }
}

/** A request whose second half is sent by `finish`: until then it is under way. */
async function beginRequest(address: string) {
  const body = JSON.stringify({ email: 'ada@example.com', password: 'a long engine poem' })
  const { port, hostname } = new URL(address)
  const socket: Socket = connect(Number(port), hostname)
  const answer = text(socket)
  await once(socket, 'connect')
  const head = `POST /api/auth/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  await new Promise<void>(resolve => socket.write(head + body.slice(0, 20), () => resolve()))
  // What is answered over another connection afterwards was read afterwards.
  await fetch(`${address}/healthz`)
  return { finish: () => socket.write(body.slice(20)), answer }
}

test('the several signals of one Ctrl-C count as one: a request in progress gets its response, the exit code is 0', async () => {
  const program = (await usePrograms())()
  const request = await beginRequest(await program.listening)
  program.child.kill('SIGINT')
  program.child.kill('SIGTERM')
  await eventually(() => expect(program.output.stdout).toContain('Stopping: '))
  request.finish()
  const { status, headers } = parseRaw(await request.answer)
  expect([status, headers.connection]).toEqual([201, 'close'])
  const { code, stdout } = await program.ended
  expect([code, stdout.match(/^Stopp(ing|ed).*$/gm)]).toEqual([
    0,
    ['Stopping: work in progress is finished first. A second signal stops immediately.', 'Stopped.']
  ])
})

test('a signal during the first start, before the demo is loaded, stops the shop in order', async () => {
  const port = await freePort()
  const start = await usePrograms({ PORT: String(port), CARTWRIGHT__SHOP__DEMO: 'on' })
  const { child, ended } = start()
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false
    )
  while (child.exitCode === null && !(await isReady())) await delay(1)
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^Stopped\.$/m), ''])
})

test('Ctrl-C in a terminal, which reaches both npm and the shop, ends both with exit code 0', async () => {
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  for (let time = 0; time < 3; time += 1) {
    const npm = spawn('npm', ['start'], {
      detached: true,
      env: { ...process.env, PORT: '0', DATABASE_URL: database.url, CARTWRIGHT__SHOP__DEMO: 'off' },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const ended = once(npm, 'close')
    let output = ''
    npm.stdout.setEncoding('utf8').on('data', piece => {
      const hadBegun = output.includes('Try it:')
      output += piece
      // A terminal signals the whole group of processes.
      if (!hadBegun && output.includes('Try it:')) process.kill(-(npm.pid ?? 0), 'SIGINT')
    })
    expect([await ended, output]).toEqual([[0, null], expect.stringMatching(/^Stopped\.$/m)])
  }
})

test('a second signal, half a second after the first or later, ends the process immediately with exit code 1', async () => {
  const program = (await usePrograms())()
  await beginRequest(await program.listening)
  const startedAt = performance.now()
  const timer = setInterval(() => program.child.kill('SIGINT'), 20)
  const { code, stdout } = await program.ended
  clearInterval(timer)
  expect(code).toBe(1)
  expect(stdout).not.toContain('Stopped')
  const elapsedMs = performance.now() - startedAt
  expect(elapsedMs).toBeGreaterThan(490)
  expect(elapsedMs).toBeLessThan(5_000)
})

test('in production the server keeps serving for 5 seconds after the signal, and not in development', async () => {
  for (const [environment, least] of [
    ['production', 4_900],
    ['development', 0]
  ] as const) {
    const key = Buffer.alloc(32, 7).toString('base64')
    const startOne = await usePrograms({
      NODE_ENV: environment,
      HOST: '127.0.0.1',
      CARTWRIGHT__SECRETS__KEYS: `[{ id: k1, key: '${key}' }]`
    })
    const program = startOne()
    const address = await program.listening
    const startedAt = performance.now()
    program.child.kill('SIGTERM')
    if (least > 0) {
      const ready = async () => (await fetch(`${address}/readyz`)).status
      await eventually(async () => expect(await ready()).toBe(503))
      const answer = await fetch(`${address}/api/products`)
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    }
    expect((await program.ended).code).toBe(0)
    const elapsedMs = performance.now() - startedAt
    expect(elapsedMs).toBeGreaterThan(least)
    expect(elapsedMs).toBeLessThan(least + 4_000)
  }
})
