import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { useOrders } from './support/orders.ts'

test('the shell code of docs/orders.md places an order, in 30 lines', async () => {
  const shop = await useOrders()
  const page = await readFile(new URL('../docs/orders.md', import.meta.url), 'utf8')
  const [, script = ''] = /^```sh\n(.*?)^```$/ms.exec(page) ?? []
  expect(script.split('\n').filter(line => /^[^#]/.test(line)).length).toBeLessThanOrEqual(30)
  const origin = await shop.listen()
  const here = script.replace('http://127.0.0.1:8080', origin)
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', here])
  expect(stdout).toContain('"status": "pending"')
  expect(stdout).toContain('"type": "bank_transfer"')
  expect(await shop.orders()).toMatchObject([{ email: 'ada@example.com', payment_status: 'unpaid' }])
})
