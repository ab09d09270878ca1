import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openTcpProxy } from './tcp-proxy.ts'
import { until } from './until.ts'

type End = { socket: Socket; heard: () => string; hasEnded: () => boolean; wasReset: () => boolean }

function listenTo(socket: Socket): End {
  const state = { text: '', ended: false, reset: false }
  socket.setEncoding('utf8')
  socket.on('data', text => {
    state.text += text
  })
  socket.on('end', () => {
    state.ended = true
  })
  socket.on('error', error => {
    state.reset ||= (error as NodeJS.ErrnoException).code === 'ECONNRESET'
  })
  return { socket, heard: () => state.text, hasEnded: () => state.ended, wasReset: () => state.reset }
}

/** A server, a proxy before it, and connections through it. */
async function useProxy() {
  const accepted: End[] = []
  const server = createServer({ allowHalfOpen: true }, socket => accepted.push(listenTo(socket)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await openTcpProxy({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  onTestFinished(async () => {
    await proxy.close()
    for (const { socket } of accepted) socket.destroy()
    server.close()
  })
  const open = async () => {
    const count = accepted.length
    const program = listenTo(connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }))
    onTestFinished(() => void program.socket.destroy())
    await until('the server has accepted the connection', () => accepted.length > count)
    return { program, server: accepted.at(-1) as End }
  }
  return { proxy, open }
}

/** Both ends send `word`; returns when it arrives in the direction that works. */
async function say(
  word: string,
  ends: { program: End; server: End },
  heardBy: 'program' | 'server' | 'both'
) {
  ends.program.socket.write(word)
  ends.server.socket.write(word)
  const hearing = heardBy === 'both' ? [ends.program, ends.server] : [ends[heardBy]]
  await until(`${word} is received`, () => hearing.every(end => end.heard().endsWith(word)))
}

test('the TCP test proxy delivers the data of a held direction after the release', async () => {
  const { proxy, open } = await useProxy()
  const ends = await open()
  proxy.hang('to_server')
  await say('a', ends, 'program')
  expect(ends.server.heard()).toBe('')
  await proxy.restore()
  await say('b', ends, 'both')
  expect(ends.server.heard()).toBe('ab')
})

test('the TCP test proxy can lose one direction of existing connections while new ones work', async () => {
  const { proxy, open } = await useProxy()
  const old = await open()
  proxy.strand('to_program')
  await say('a', old, 'server')
  await say('b', await open(), 'both')
  await proxy.restore()
  await say('c', old, 'server')
  expect(old.program.heard()).toBe('')
})

test('the TCP test proxy delivers the data of a slow direction in order', async () => {
  const { proxy, open } = await useProxy()
  const ends = await open()
  proxy.slow('to_program', 200)
  const startedAt = performance.now()
  for (const word of ['a', 'b', 'c']) ends.server.socket.write(word)
  await until('all data is received', () => ends.program.heard() === 'abc')
  expect(performance.now() - startedAt).toBeGreaterThan(190)
})

test('a half close through the TCP test proxy reaches one side, and the other side can still send', async () => {
  const { proxy, open } = await useProxy()
  const ends = await open()
  proxy.halfClose('to_server')
  await until('the server receives the end of the stream', ends.server.hasEnded)
  await say('a', ends, 'program')
  expect([ends.program.hasEnded(), ends.server.heard()]).toEqual([false, ''])
})

test('a reset by the TCP test proxy reaches both sides, and new connections work', async () => {
  const { proxy, open } = await useProxy()
  const ends = await open()
  proxy.reset()
  await until('both ends are reset', () => ends.program.wasReset() && ends.server.wasReset())
  await say('a', await open(), 'both')
})

test('through the TCP test proxy new connections can hang while existing ones work', async () => {
  const { proxy, open } = await useProxy()
  const old = await open()
  proxy.hangNew()
  const fresh = await open()
  await say('a', old, 'both')
  fresh.program.socket.write('b')
  await say('c', old, 'both')
  expect(fresh.server.heard()).toBe('')
  await proxy.restore()
  await until('the data arrives', () => fresh.server.heard() === 'b')
})
