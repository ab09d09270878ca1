import { paymentsModule } from '../../src/modules/payments/index.ts'
import { openTestShop } from '../../src/testing.ts'

/** A process that refunds a payment, and is killed when it sends the statement `moment`. */
const [databaseUrl = '', sandboxUrl = '', paymentId = '', moment = '', token = '', key = ''] =
  process.argv.slice(2)
const shop = await openTestShop({
  modules: [paymentsModule],
  databaseUrl,
  settings: { CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandboxUrl }
})
shop.statements.push = name => {
  if (name === moment) process.kill(process.pid, 'SIGKILL')
  return 0
}
await shop
  .as({ token })
  .post(
    `/api/admin/payments/${paymentId}/refund`,
    { amount: 3_000, reason: 'it was broken' },
    { 'idempotency-key': key }
  )
