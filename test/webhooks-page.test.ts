import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { createWebhookSigningSecret, signWebhook } from '../src/modules/webhooks/signatures/sign.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const page = await readFile(`${ROOT}docs/webhooks.md`, 'utf8')

test('the receiver in docs/webhooks.md accepts what the shop signs, with either secret, and rejects all else', async () => {
  const [, example = ''] = /^```js\n([\s\S]*?)^```/m.exec(page) ?? []
  const code = example.replace(
    '.listen(3000)',
    '.listen(0, function () { console.log(this.address().port) })'
  )
  expect(code).not.toBe(example)
  const secret = createWebhookSigningSecret()
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: ROOT,
    env: { WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  onTestFinished(() => void child.kill())
  const [line] = await once(child.stdout, 'data')
  const body = JSON.stringify({ type: 'orders.placed', timestamp: new Date().toISOString(), data: {} })
  const seconds = Math.floor(Date.now() / 1_000)
  const answer = async (secrets: string[], sent = body, at = seconds) => {
    const { status } = await fetch(`http://127.0.0.1:${Number(line)}/`, {
      method: 'POST',
      body: sent,
      headers: {
        'webhook-id': 'one',
        'webhook-timestamp': String(at),
        'webhook-signature': signWebhook(secrets, { id: 'one', timestampSeconds: at, body })
      }
    })
    return status
  }
  expect(await answer([secret])).toBe(204)
  expect(await answer([createWebhookSigningSecret(), secret])).toBe(204)
  expect(await answer([createWebhookSigningSecret()])).toBe(401)
  expect(await answer([secret], `${body} `)).toBe(401)
  expect(await answer([secret], body, seconds - 3_600)).toBe(401)
})

test('webhook signatures equal those of the standardwebhooks library, for any body', () => {
  const secret = createWebhookSigningSecret()
  for (const body of ['', '{}', 'ß€😀', '\n'.repeat(1_000)]) {
    const at = new Date(1_763_800_000_999)
    const signed = { id: 'msg_1', timestampSeconds: 1_763_800_000, body }
    expect(signWebhook([secret], signed)).toBe(new Webhook(secret).sign('msg_1', at, body))
  }
})
