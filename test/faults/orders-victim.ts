import { openTestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'

/** A process in which a customer cancels an order, and which is killed when it sends the statement `moment`. */
const [databaseUrl = '', sandboxUrl = '', orderId = '', moment = '', token = '', key = ''] =
  process.argv.slice(2)
const shop = await openTestShop({
  modules: CHECKOUT_MODULES,
  databaseUrl,
  settings: { CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandboxUrl }
})
shop.statements.push = name => {
  if (name === moment) process.kill(process.pid, 'SIGKILL')
  return 0
}
await shop.as({ token }).post(`/api/orders/${orderId}/cancel`, undefined, { 'idempotency-key': key })
