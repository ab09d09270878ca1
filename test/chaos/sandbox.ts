import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { signSandboxWebhook } from '../../src/payment-sandbox/signature.ts'
import { fixedPort } from '../faults/fixed-port.ts'
import { until } from '../faults/until.ts'
import { testSecrets } from '../support/secrets.ts'

const PROGRAM = fileURLToPath(new URL('../../src/payment-sandbox/main.ts', import.meta.url))
const KEY = testSecrets().mac('payments.sandbox', 'key')
const TIMEOUT_MS = 5_000

/** The payment sandbox as a separate process, which can be killed, frozen, and made to fail. */
export type Sandbox = {
  url: string
  folder: string
  /** Resolves with undefined when the sandbox does not respond. */
  ask(path: string, body: object): Promise<{ status?: string } | undefined>
  /** Repeats the request until the sandbox responds. */
  insist(path: string, body: object): Promise<void>
  /** Sends this event to the shop's callback, whether or not it was confirmed. */
  callBack(event: object): Promise<void>
  signal(name: NodeJS.Signals): void
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Starts the sandbox. `callbacks`: URL of the shop's callback. */
export async function openSandboxProcess(callbacks: string): Promise<Sandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-chaos-sandbox-'))
  const port = await fixedPort()
  const url = `http://127.0.0.1:${port}`
  const webhook = { url: callbacks, secret: testSecrets().mac('payments.sandbox', 'webhook') }
  let child: ChildProcess

  const start = async () => {
    child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin?.write(`${JSON.stringify({ folder, port, key: KEY, webhook })}\n`)
    const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')
    if (JSON.parse(line).url === undefined) throw new Error(`the sandbox cannot start: ${line}`)
  }
  const kill = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const ask: Sandbox['ask'] = (path, body) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS)
    }).then(
      async answer => (await answer.json()) as { status?: string },
      () => undefined
    )
  await start()
  // Also ends the sandbox when the run is interrupted.
  process.once('exit', () => child.kill('SIGKILL'))
  return {
    url,
    folder,
    ask,
    insist: async (path, body) => {
      await until('the sandbox responds', async () => (await ask(path, body)) !== undefined)
    },
    callBack: async event => {
      const body = Buffer.from(JSON.stringify(event))
      const headers = {
        'content-type': 'application/json',
        'sandbox-signature': signSandboxWebhook(webhook.secret, body, new Date())
      }
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      await fetch(callbacks, { method: 'POST', headers, body, signal }).catch(() => {})
    },
    signal: name => void child.kill(name),
    kill,
    start,
    close: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    }
  }
}
