import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { json, text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/faults/until.ts'
import { errorFields } from './log.ts'

const MODULE = new URL('./log.ts', import.meta.url).href

/** Runs `script` in a separate process in which `log` is open. */
function useProcess(script: string) {
  const source = `import { openLog } from '${MODULE}'; const log = openLog({ level: 'info' }); ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'pipe']
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

async function linesOf(child: ChildProcess): Promise<Record<string, unknown>[]> {
  const output = await text(child.stdout as NodeJS.ReadableStream)
  return output
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}
const hundredLines = 'for (let n = 0; n < 100; n += 1) log.info({ n }, "line");'

test.each([
  ['having nothing left to do', ''],
  ['process.exit', 'process.exit(0)'],
  ['an uncaught error', 'setTimeout(() => { throw new Error("bug") })'],
  ['an unhandled rejection', 'Promise.reject(new Error("bug"))']
])('every log line is written when the process ends by %s', async (_how, ending) => {
  const lines = await linesOf(useProcess(hundredLines + ending))
  // The last buffer may overtake one that is being written.
  const numbers = lines.map(line => Number(line.n)).sort((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n))
})

test('every log line is written when SIGTERM ends the process', async () => {
  const child = useProcess(
    `process.on('SIGTERM', () => { log.info('bye'); process.exit(0) });
     setInterval(() => {}, 1000); ${hundredLines} process.stderr.write('ready')`
  )
  const lines = linesOf(child)
  await once(child.stderr, 'data')
  child.kill('SIGTERM')
  expect((await lines).length).toBe(101)
})

test('an error is logged immediately, also while other lines are buffered', async () => {
  const child = useProcess(
    `process.stdin.on('data', chunk => log[String(chunk)]('said')); process.stderr.write('ready')`
  )
  const arrivals: string[] = []
  child.stdout.on('data', chunk => arrivals.push(String(chunk)))
  await once(child.stderr, 'data')

  const written = async (level: string) => {
    const before = arrivals.length
    child.stdin.write(level)
    return until(`the line is written: ${level}`, () => arrivals.length > before)
  }
  for (const level of ['error', 'fatal']) {
    await expect
      .poll(async () => {
        await written('info')
        // Right after a flush, the next scheduled one is half a second away.
        return written(level)
      })
      .toBeLessThan(300)
  }
})

test('the process continues when the reader of its log is gone', async () => {
  const child = useProcess(
    `setInterval(() => { log.info('x'.repeat(5000)); log.error('more') }, 5); process.stdin.on('data', () => process.stderr.write('alive'))`
  )
  await once(child.stdout, 'data')
  child.stdout.destroy()
  for (let i = 0; i < 3; i += 1) {
    await new Promise(resolve => setTimeout(resolve, 300))
    child.stdin.write('?')
    expect(String((await once(child.stderr, 'data'))[0])).toBe('alive')
  }
  expect(child.exitCode).toBeNull()
})

test('a log line has the time, level, message, and the stack of its error', async () => {
  const child = useProcess(`log.error({ err: new TypeError('bad'), req_id: 'r1' }, 'unexpected error')`)
  const line = await json(child.stdout)
  expect(line).toEqual({
    level: 'error',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    req_id: 'r1',
    msg: 'unexpected error',
    err: { type: 'TypeError', message: 'bad', stack: expect.stringContaining('TypeError: bad\n    at ') }
  })
})

test('secret properties that libraries add to their errors are not logged', () => {
  const error = Object.assign(new Error('refused'), {
    code: '23514',
    constraint: 'lines_quantity_check',
    detail: 'Failing row contains (1, s3cret-hash).',
    config: { headers: { authorization: 'Bearer s3cret' } },
    command: { name: 'auth', args: ['s3cret'] },
    input: 'postgres://user:s3cret@host/db'
  })
  const outer = new Error('outer', { cause: error })
  expect(JSON.stringify(errorFields(outer))).not.toContain('s3cret')
  expect(errorFields(outer)).toMatchObject({
    type: 'Error',
    message: 'outer',
    cause: { message: 'refused', code: '23514', constraint: 'lines_quantity_check' }
  })
})

test.each([
  'connect to postgres://user:s3cret@host:5432/db failed',
  'redis://:s3cret@host refused',
  'odd: https://user:s3cret:s3cret@host/s3',
  'header Authorization: Bearer s3cret.s3cret-s3cret_x= was refused',
  'authorization: basic s3cretczNjcmV0=='
])('a password in a log message is not logged: %s', message => {
  const fields = JSON.stringify(errorFields(new Error(message)))
  expect(fields).not.toContain('s3cret')
  expect(fields).toContain('***')
})

test('a URL without a password is logged unchanged', () => {
  const message = 'GET http://127.0.0.1:8080/api?page=2 for bearer of news'
  expect(errorFields(new Error(message)).message).toBe(message)
})

test('a cyclic chain of error causes is logged up to a limit', () => {
  const error = new Error('round')
  error.cause = error
  expect(JSON.stringify(errorFields(error)).length).toBeLessThan(50_000)
})

test.each(['text s3cret', { password: 's3cret' }, null, undefined])(
  'the content of a thrown value that is not an Error is not logged: %j',
  thrown => {
    expect(JSON.stringify(errorFields(thrown))).not.toContain('s3cret')
  }
)
