import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const UNCAUGHT = fileURLToPath(new URL('./uncaught-errors.ts', import.meta.url))

/** Starts a server process whose requests cause uncaught errors. It prints JSON. */
const PROGRAM = `
import { EventEmitter, once } from 'node:events'
import { createServer, get } from 'node:http'
import { createUncaughtErrorHandler, runInRequestContext } from ${JSON.stringify(UNCAUGHT)}

const counted = [], logged = [], marked = []
const note = level => ({ err }) => logged.push([level, err.message])
const log = { error: note('error'), fatal: note('fatal') }
const { promise: stopped, resolve: stop } = Promise.withResolvers()
const metrics = { counter: () => ({ add: ({ of }) => counted.push(of) }) }
process.on('uncaughtException', createUncaughtErrorHandler({ log, metrics, headers: { 'x-test': 'every answer' } })(stop))

const faults = {
  timer: () => setTimeout(() => { throw new Error('timer') }, 5),
  event: () => setImmediate(() => new EventEmitter().emit('error', new Error('event'))),
  promise: () => { Promise.reject(new Error('promise')) },
  begun: response => { response.write('a'); setTimeout(() => { throw new Error('begun') }, 5) },
  fine: response => response.end('fine'),
  later: response => { response.end('fine'); setTimeout(() => { throw new Error('later') }, 50) }
}
const server = createServer((request, response) =>
  runInRequestContext(response, () => faults[request.url.slice(1)](response), request))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const ask = path => new Promise(resolve =>
  get({ port: server.address().port, host: '127.0.0.1', path: '/' + path }, answer => {
    let body = ''
    if (answer.statusCode === 500) marked.push(answer.headers['x-test'])
    answer.on('data', chunk => { body += chunk })
    answer.on('close', () => resolve([path, answer.statusCode, answer.complete]))
  }).on('error', () => resolve([path, 0, false])))
const answers = []
for (const path of ['timer', 'event', 'promise', 'begun', 'fine', 'later']) answers.push(await ask(path))
await stopped
console.log(JSON.stringify({ answers, counted, logged, marked }))
process.exit(0)
`

test('an uncaught error of a request returns 500; any other uncaught error stops the process', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM])
  expect(JSON.parse(stdout)).toEqual({
    answers: [
      ['timer', 500, true],
      ['event', 500, true],
      ['promise', 500, true],
      ['begun', 200, false],
      ['fine', 200, true],
      ['later', 200, true]
    ],
    marked: ['every answer', 'every answer', 'every answer'],
    counted: ['request', 'request', 'request', 'request', 'process'],
    logged: [
      ['error', 'timer'],
      ['error', 'event'],
      ['error', 'promise'],
      ['error', 'begun'],
      ['fatal', 'later']
    ]
  })
})
