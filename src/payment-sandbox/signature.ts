import { createHmac } from 'node:crypto'

/** Signs a webhook as Stripe does: `t=<seconds>,v1=<HMAC-SHA-256 of "seconds.body">`. */
export function signSandboxWebhook(secret: string, raw: Buffer, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1_000)
  const mac = createHmac('sha256', secret).update(`${seconds}.`).update(raw).digest('hex')
  return `t=${seconds},v1=${mac}`
}
