import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { addressOf, throughProxy } from './postgres-address.ts'
import { MessageReader, type WireMessage } from './postgres-wire.ts'

const TERMINATE = 'X'
const READY = 'Z'
const IDLE = 'I'.charCodeAt(0)
/** A message with a type; the length counts itself. */
function encode(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Which session a transaction gets: that which was used last, that which has been free longest, or the client's previous one if it is free. */
export type SessionChoice = 'last' | 'oldest' | 'previous'

/** A connection to PostgreSQL. */
type Session = {
  socket: Socket
  /** The client whose transaction runs here. */
  client: Client | undefined
  /** Prepared statements of clients that exist here. */
  prepared: Set<string>
  /** For each Parse under way, whether the client sent it. */
  parses: boolean[]
}
type Client = {
  id: number
  socket: Socket
  session: Session | undefined
  previous: Session | undefined
  /** Responses with ReadyForQuery that are still due. */
  due: number
  /** The bodies of Parse, by name. */
  statements: Map<string, Buffer>
}

/**
 * Imitates a pooler that shares sessions between transactions, drops session settings at the start, and keeps prepared statements of
 * clients, as PgBouncer since 1.21 and others do: nothing fails, but SET and LISTEN are lost. Returns the URL of the database through it.
 */
export async function useSessionSharingPooler(databaseUrl: string, choice: SessionChoice): Promise<string> {
  const { pathname, username } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const free: Session[] = []
  let greeting: Buffer | undefined
  let clients = 0

  /** Opens a session. Resolves when it is ready, with what the server has sent. */
  async function openSession(): Promise<Session> {
    const socket = connect(addressOf(databaseUrl))
    sockets.add(socket)
    const session: Session = { socket, client: undefined, prepared: new Set(), parses: [] }
    const parameters = ['user', username, 'database', pathname.slice(1)].map(text => `${text}\0`).join('')
    const body = Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from(`${parameters}\0`)])
    const start = encode('', body)
    socket.write(start.subarray(start.length - body.length - 4))
    const reader = new MessageReader('to_program')
    const ready = Promise.withResolvers<void>()
    const greetings: Buffer[] = []
    socket.on('error', () => {})
    socket.on('close', () => session.client?.socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      for (const message of reader.read(chunk)) {
        if (greeting === undefined) greetings.push(encode(message.type, message.body))
        if (session.client !== undefined) answer(session, session.client, message)
        else if (message.type === READY) ready.resolve()
      }
    })
    await ready.promise
    greeting ??= Buffer.concat(greetings)
    return session
  }

  function answer(session: Session, client: Client, { type, body }: WireMessage): void {
    if (type === 'A') return
    if (type === '1' && session.parses.shift() === false) return
    client.socket.write(encode(type, body))
    if (type !== READY) return
    client.due -= 1
    if (client.due > 0 || body[0] !== IDLE) return
    client.session = undefined
    client.previous = session
    session.client = undefined
    session.parses = []
    free.push(session)
  }

  async function sessionOf(client: Client): Promise<Session> {
    if (client.session !== undefined) return client.session
    const wanted = {
      last: free.at(-1),
      oldest: free.length > 1 ? free[0] : undefined,
      previous: client.previous
    }[choice]
    const index = wanted === undefined ? -1 : free.indexOf(wanted)
    const session = free.splice(index, index < 0 ? 0 : 1)[0] ?? (await openSession())
    session.client = client
    client.session = session
    return session
  }

  async function forward(client: Client, { type, body }: WireMessage): Promise<void> {
    const session = await sessionOf(client)
    if (type === 'S' || type === 'Q') client.due += 1
    session.socket.write(encode(type, renamed(client, session, type, body)))
  }

  /** Gives the statements of each client names of their own, and prepares those that the session lacks. */
  function renamed(client: Client, session: Session, type: string, body: Buffer): Buffer {
    const text = body.toString('latin1')
    const [first = '', second = ''] = text.split('\0', 2)
    const nameOf = (name: string) => `c${client.id}_${name}`
    const needs = (name: string) => {
      const statement = client.statements.get(name)
      if (statement === undefined || session.prepared.has(nameOf(name))) return
      session.prepared.add(nameOf(name))
      session.parses.push(false)
      session.socket.write(encode('P', statement))
    }
    if (type === 'P') session.parses.push(true)
    if (type === 'P' && first !== '') {
      const parse = Buffer.from(nameOf(first) + text.slice(first.length), 'latin1')
      client.statements.set(first, parse)
      session.prepared.add(nameOf(first))
      return parse
    }
    if (type === 'B' && second !== '') {
      needs(second)
      const rest = text.slice(first.length + 1 + second.length)
      return Buffer.from(`${first}\0${nameOf(second)}${rest}`, 'latin1')
    }
    if ((type === 'D' || type === 'C') && first.startsWith('S') && first.length > 1) {
      needs(first.slice(1))
      if (type === 'C') {
        client.statements.delete(first.slice(1))
        session.prepared.delete(nameOf(first.slice(1)))
      }
      return Buffer.from(`S${nameOf(first.slice(1))}\0`, 'latin1')
    }
    return body
  }

  const server = createServer(socket => {
    sockets.add(socket)
    clients += 1
    const client: Client = {
      id: clients,
      socket,
      session: undefined,
      previous: undefined,
      due: 0,
      statements: new Map()
    }
    const reader = new MessageReader('to_server')
    socket.on('error', () => {})
    let previous: Promise<unknown> = Promise.resolve()
    const handle = async (message: WireMessage) => {
      if (message.type === TERMINATE) return
      if (message.type !== '') return forward(client, message)
      if (greeting === undefined) free.push(await openSession())
      socket.write(greeting as Buffer)
    }
    socket.on('data', (chunk: Buffer) => {
      for (const message of reader.read(chunk)) previous = previous.then(() => handle(message))
    })
    // The transaction of a client that has gone ends with its session.
    socket.on('close', () => previous.then(() => client.session?.socket.destroy()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return throughProxy(databaseUrl, { port: (server.address() as AddressInfo).port })
}
