import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { addressOf, throughProxy } from './postgres-address.ts'

/** The error of PostgreSQL at the connection limit of a role, a database or the server. */
const REFUSAL = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '53300',
  M: 'too many connections for role "few"'
})

/** A test database with a connection limit, as a limited role has. */
export async function useLimitedDatabase(max: number) {
  const created = await createTestDatabase()
  const limited = await limitDatabase(created.url, max)
  onTestFinished(async () => {
    limited.close()
    await created.drop()
  })
  return limited
}

/** The same for a database of the caller, who closes it. */
export async function limitDatabase(databaseUrl: string, max: number) {
  const target = addressOf(databaseUrl)
  const accepted = new Set<Socket>()
  let limit = max
  let refused = 0
  const server = createServer(near => {
    near.on('error', () => {})
    if (accepted.size >= limit) {
      refused += 1
      near.once('data', () => near.end(REFUSAL))
      return
    }
    accepted.add(near)
    const far = connect(target)
    far.on('error', () => near.destroy())
    near.on('close', () => {
      accepted.delete(near)
      far.destroy()
    })
    far.on('close', () => near.destroy())
    near.pipe(far)
    far.pipe(near)
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const endAll = () => {
    for (const socket of accepted) socket.destroy()
  }
  return {
    url: throughProxy(databaseUrl, { port }),
    directUrl: databaseUrl,
    setLimit: (next: number) => {
      limit = next
    },
    endAll,
    refused: () => refused,
    accepted: () => accepted.size,
    close: () => {
      endAll()
      server.close()
    }
  }
}

function errorResponse(fields: Record<string, string>): Buffer {
  const body = Buffer.from(
    `${Object.entries(fields)
      .map(([type, text]) => `${type}${text}\0`)
      .join('')}\0`
  )
  const head = Buffer.alloc(5, 'E')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
