import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { optionsOf, type Ready, targetOf } from './requests.ts'
import type { World } from './world.ts'

const HANG_UP_MS_MAX = 20

/** Sends the request so often over sockets of its own; the client hangs up after 0 to 20 ms, answered or not. */
export async function replayAndHangUp(origin: string, route: Ready, times: number): Promise<void> {
  const { port } = new URL(origin)
  const bytes = bytesOf(route)
  const send = async (time: number) => {
    const socket = connect(Number(port), '127.0.0.1')
    // A reset is what happens to a client that has hung up.
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.write(bytes)
    await delay((HANG_UP_MS_MAX * time) / times)
    socket.destroy()
  }
  await Promise.all(Array.from({ length: times }, (_, time) => send(time)))
}

function bytesOf(route: Ready): Buffer {
  const { token, headers = {}, body } = optionsOf(route.request)
  const isText = typeof body === 'string' || Buffer.isBuffer(body)
  const content = Buffer.from(body === undefined ? '' : isText ? (body as string) : JSON.stringify(body))
  const lines = {
    host: 'localhost',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': content.length }),
    ...headers
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  const start = `${route.method} ${targetOf(route, route.request)} HTTP/1.1\r\n`
  return Buffer.concat([Buffer.from(`${start}${head.join('')}\r\n`), content])
}

/** All that a request can have changed: rows, what is sent to others, and money at the provider. */
export async function effectsOf({ stored, sql, sandbox }: World): Promise<Record<string, unknown>> {
  const tables = await stored()
  const [sent] = await sql(
    `select (select count(*) from notifications.messages) as messages,
       (select count(*) from webhooks.deliveries) as deliveries,
       (select count(*) from webhooks.endpoints) as endpoints`
  )
  // Requests of administrators are noted each time.
  const { 'cartwright.audit': _, ...others } = tables
  return { ...others, ...sent, provider: JSON.stringify(await sandbox.objects()) }
}
