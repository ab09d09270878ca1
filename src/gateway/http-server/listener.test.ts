import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { parseRaw, sendRaw } from '../../../test/support/gateway.ts'
import { createRequestListener, type RequestListenerDeps } from './listener.ts'

let server: Server | undefined
afterEach(() => server?.close())

/** Starts a listener that refuses all requests; `before` runs ahead of it, as CORS does. */
async function refuseAll(before: (response: { setHeader(name: string, value: string): void }) => void) {
  const listener = createRequestListener({
    slots: { admission: { mayRefuse: () => true, wouldRefuse: () => true }, refused: { add: () => {} } },
    acceptQueue: { connectionAccepted: () => {}, requestAdmitted: () => {}, requestRefused: () => {} },
    classOf: () => 'browse',
    networkOf: () => undefined,
    isDraining: () => false,
    headers: { 'cache-control': 'no-store' },
    handler: () => {}
  } as unknown as RequestListenerDeps)
  server = createServer({ keepAliveTimeout: 3_000 }, (request, response) => {
    before(response)
    listener(request, response)
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  return (server.address() as AddressInfo).port
}

const get = (more = '', line = 'GET /x HTTP/1.1') => `${line}\r\nhost: x\r\n${more}\r\n`
const LAST = get('connection: close\r\n')

/** Sends these requests together and returns the responses, each with its id. */
async function answersTo(port: number, requests: readonly string[]) {
  const all = await sendRaw(port, requests.join(''))
  return all
    .split(/(?=HTTP\/1\.1 )/)
    .map(text => ({ text, id: parseRaw(text).headers['x-request-id'] ?? '' }))
    .map(({ text, id }) => ({ text: text.replaceAll(id, 'ID'), id, ...parseRaw(text) }))
}

test('all refusals by the request listener have the same body, except for the request id', async () => {
  const port = await refuseAll(() => {})
  const answers = await answersTo(port, [get(), get(), get(), LAST])
  const [first, second, third, last] = answers
  expect(first).toMatchObject({
    status: 503,
    headers: {
      'cache-control': 'no-store',
      'retry-after': '1',
      connection: 'keep-alive',
      'keep-alive': 'timeout=3',
      'content-type': 'application/problem+json; charset=utf-8'
    }
  })
  expect(first?.headers.date).toBeUndefined()
  expect(JSON.parse(first?.body ?? '')).toMatchObject({ code: 'OVERLOADED', request_id: first?.id })
  expect(second?.text).toBe(first?.text)
  expect(third?.text).toBe(first?.text)
  expect(new Set(answers.map(({ id }) => id)).size).toBe(4)
  expect(last).toMatchObject({ status: 503, headers: { connection: 'close' } })
})

test('a refusal has no body for HEAD, closes HTTP/1.0, and keeps headers that were set before', async () => {
  let headers: Record<string, string> = {}
  const port = await refuseAll(response => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  })
  await answersTo(port, [get(), LAST])
  const [head, behind] = await answersTo(port, [get('', 'HEAD /x HTTP/1.1'), LAST])
  expect([head?.status, head?.body, behind?.status]).toEqual([503, '', 503])
  const [old] = await answersTo(port, [get('', 'GET /x HTTP/1.0')])
  expect(old).toMatchObject({ status: 503, headers: { connection: 'close' } })
  headers = { vary: 'Origin' }
  const [readable] = await answersTo(port, [get(), LAST])
  expect(readable?.headers.vary).toBe('Origin')
  headers = {}
  const [plain] = await answersTo(port, [get(), LAST])
  expect(plain?.headers.vary).toBeUndefined()
})
