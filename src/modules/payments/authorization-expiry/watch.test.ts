import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { usePayments } from '../../../../test/support/payments.ts'

const DAY_SECONDS = 86_400

async function useHeld(mode: 'warn' | 'capture') {
  const shop = await usePayments({
    settings: {
      CARTWRIGHT__PAYMENTS__CAPTURE: 'manual',
      CARTWRIGHT__PAYMENTS__CAPTURE_BEFORE_EXPIRY: mode
    }
  })
  const { order, intent, act, payment, sql, log, admin } = shop
  const held = async () => {
    const orderId = await order()
    const { id } = await intent(orderId)
    await act(id, 'pay')
    await until('the payment is authorized', async () => (await payment(id)).status === 'authorized')
    return { orderId, id }
  }
  /** Sets the time to expiry in seconds and runs the watch. */
  const leave = async (id: string, seconds: number) => {
    await sql(
      `update payments.facts set expires_at = now() + make_interval(secs => $2) where payment_id = $1 and kind = 'authorization'`,
      [id, seconds]
    )
    await sql(
      'update payments.payments set authorized_until = now() + make_interval(secs => $2) where id = $1',
      [id, seconds]
    )
    await sql(
      `update cartwright.jobs set due_at = now() where handler = 'payments.watch_expiry' and lease is null`
    )
  }
  const warnings = () => log.filter(line => line.includes('an authorization expires within a day')).length
  const expiring = async () => {
    const { json } = await admin.get('/api/admin/payments?expiring=true&count=true')
    return json.items.map((item: { id: string }) => item.id)
  }
  return { ...shop, held, leave, warnings, expiring }
}

test("an authorization that expires within a day is reported once, with the provider's time of expiry", async () => {
  const { held, leave, warnings, expiring, payment, sql } = await useHeld('warn')
  const { id } = await held()
  const { id: other } = await held()
  const left = (Date.parse((await payment(id)).authorized_until) - Date.now()) / 1_000
  expect(left).toBeGreaterThan(6 * DAY_SECONDS)
  expect(left).toBeLessThan(8 * DAY_SECONDS)
  expect(await expiring()).toEqual([])
  await leave(other, DAY_SECONDS + 600)
  await leave(id, DAY_SECONDS - 600)
  expect(await expiring()).toEqual([id])
  await until('the warning is logged', () => warnings() === 1)
  await leave(id, 3_600)
  const last = async () =>
    (
      await sql(
        `select due_at > now() as is_done from cartwright.jobs where handler = 'payments.watch_expiry'`
      )
    )[0]
  await until('the authorization is checked again', async () => (await last())?.is_done === true)
  expect(warnings()).toBe(1)
  expect(await payment(id)).toMatchObject({ status: 'authorized', authorized: 10_000 })
})

test('with capture_before_expiry an expiring authorization is captured, but not for an order that is being canceled', async () => {
  const { held, leave, payment, account, expiring, sql } = await useHeld('capture')
  const { orderId, id } = await held()
  const canceled = await held()
  await sql('update payments.accounts set frozen_at = now() where order_id = $1', [canceled.orderId])
  await leave(canceled.id, 3_600)
  await leave(id, 3_600)
  await until('the payment is captured', async () => (await account(orderId)).status === 'paid')
  expect(await payment(id)).toMatchObject({ captured: 10_000, authorized: 0, authorized_until: null })
  expect(await payment(id)).toMatchObject({
    operations: [{ kind: 'create' }, { kind: 'capture', amount: 10_000, reason: 'the authorization expires' }]
  })
  expect((await payment(canceled.id)).operations.map(({ kind }: { kind: string }) => kind)).not.toContain(
    'capture'
  )
  expect(await expiring()).toEqual([canceled.id])
})
