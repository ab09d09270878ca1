import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxEngine } from './engine.ts'
import type { SandboxObject } from './ledger.ts'
import { signSandboxWebhook } from './signature.ts'

const TIMEOUT_MS = 5_000
const PAUSES_MS = [200, 1_000, 5_000, 30_000]

type Options = { engine: SandboxEngine; url: string; secret: string }

/** Delivers events to the shop until it acknowledges them, in order unless a test requests a fault. */
export function createSandboxWebhookSender({ engine, url, secret }: Options) {
  const faults = { double: false, reverse: false, hold: false }
  const stopping = new AbortController()
  let wake = Promise.withResolvers<void>()

  async function send(event: SandboxObject): Promise<boolean> {
    const body = Buffer.from(JSON.stringify(event))
    const headers = {
      'content-type': 'application/json',
      'sandbox-signature': signSandboxWebhook(secret, body, new Date())
    }
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)])
      const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
      await answer.arrayBuffer()
      return answer.ok
    } catch {
      return false
    }
  }

  async function deliver(): Promise<boolean> {
    const waiting = engine.undelivered()
    for (const event of faults.reverse ? waiting.toReversed() : waiting) {
      if (faults.hold || stopping.signal.aborted) return true
      const times = faults.double ? 2 : 1
      for (let time = 0; time < times; time += 1) if (!(await send(event))) return false
      engine.delivered(event.id)
    }
    return true
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!stopping.signal.aborted) {
      wake = Promise.withResolvers<void>()
      failures = (await deliver()) ? 0 : failures + 1
      const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1]
      const pause = pauseMs === undefined ? [] : [delay(pauseMs, undefined, { signal: stopping.signal })]
      await Promise.race([wake.promise, ...pause]).catch(() => {})
    }
  }
  const running = url === '' ? Promise.resolve() : run()

  return {
    faults,
    wake: () => wake.resolve(),
    stop: async () => {
      stopping.abort()
      wake.resolve()
      await running
    }
  }
}
export type SandboxWebhookSender = ReturnType<typeof createSandboxWebhookSender>
