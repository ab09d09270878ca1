import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { until } from '../faults/until.ts'
import { type PaymentShop, usePayments } from '../support/payments.ts'

const reason = 'it was broken'

/** Checks the invariants of payments in the tables and the ledger of the sandbox. */
async function expectConsistentPayments(shop: PaymentShop): Promise<void> {
  const [sums] = await shop.sql(`
    select
      (select count(*)::int from payments.operations where settled_at is null) as open,
      (select count(*)::int from payments.operations where settled_at is not null and request is not null) as kept,
      (select count(*)::int from payments.accounts where captured - refunded > due and not is_overpaid) as unflagged,
      (select count(*)::int from payments.accounts where refunded + refunding > captured) as too_much,
      (select count(*)::int from payments.accounts a where committed > due or captured <> (
        select coalesce(sum(captured), 0) from payments.payments p where p.order_id = a.order_id)) as wrong`)
  expect(sums).toEqual({ open: 0, kept: 0, unflagged: 0, too_much: 0, wrong: 0 })
  const objects = await shop.sandbox.objects()
  const facts = await shop.sql('select kind, object_id, status, amount::int from payments.facts')
  const known = (kind: string, id: string) => facts.find(fact => fact.kind === kind && fact.object_id === id)
  for (const { object, id, amount, status } of objects) {
    if (object === 'payment_intent') expect(known('intent', id), id).toMatchObject({ amount })
    if (object === 'refund') expect(known('refund', id), id).toMatchObject({ amount, status })
    if (object === 'charge' && (objects.find(each => each.id === id) as { captured?: boolean }).captured)
      expect(known('capture', id), id).toMatchObject({ status: 'succeeded' })
  }
  const ids = new Set(objects.map(({ id }) => id))
  for (const { kind, object_id } of facts.filter(({ kind }) =>
    ['capture', 'refund'].includes(kind as string)
  ))
    expect(ids.has(object_id as string), `${kind} ${object_id}`).toBe(true)
}
const settled = (shop: PaymentShop) =>
  until(
    'all operations are settled',
    async () => {
      const [{ open } = { open: 1 }] = await shop.sql(
        'select count(*)::int as open from payments.operations where settled_at is null'
      )
      if (open === 0) return true
      await shop.hurry()
      return false
    },
    25_000
  )

test('simultaneous payment requests for one order start one payment', async () => {
  const shop = await usePayments()
  const orderId = await shop.order()
  const ids = await Promise.all(Array.from({ length: 12 }, async () => (await shop.intent(orderId)).id))
  expect(new Set(ids).size).toBe(1)
  await settled(shop)
  expect(await shop.sandbox.objects()).toHaveLength(1)
  await expectConsistentPayments(shop)
})

test('two processes that receive the same payment events simultaneously, in any order, reach the same sums', async () => {
  const shop = await usePayments()
  const other = await usePayments({ databaseUrl: shop.databaseUrl, sandboxUrl: shop.sandbox.url })
  const orderId = await shop.order()
  await shop.sandbox.ask('/test/webhooks', { hold: true })
  const { id } = await shop.intent(orderId)
  const tell = async () => {
    const object = await shop.sandbox.intentOf(id)
    return { id: `evt_${newId()}`, object: 'event', type: 'payment_intent.updated', data: { object } }
  }
  const told = [await tell()]
  for (const deed of ['require_action', 'fail', 'pay', 'dispute']) {
    await shop.act(id, deed)
    told.push(await tell())
  }
  const calls = [...told, ...told.toReversed(), ...told].flatMap(event => [
    shop.callback(event),
    other.callback(event)
  ])
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200)
  await until('all callbacks are applied', async () => {
    const { json } = await shop.admin.get('/api/admin/payments/events?state=applied&count=true')
    return json.total === told.length
  })
  expect(await shop.account(orderId)).toMatchObject({ status: 'paid', captured: 10_000, disputed: 10_000 })
  await expectConsistentPayments(shop)
})

test('a capture succeeds once although its response arrives after the callback or never', async () => {
  const shop = await usePayments({ settings: { CARTWRIGHT__PAYMENTS__CAPTURE: 'manual' } })
  for (const fault of ['delay', 'drop']) {
    const orderId = await shop.order()
    const { id } = await shop.intent(orderId)
    await shop.act(id, 'pay')
    await until('the payment is authorized', async () => (await shop.payment(id)).status === 'authorized')
    await shop.sandbox.fault(fault, 1, 700)
    const capture = shop.admin.post(`/api/admin/payments/${id}/capture`, {})
    await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
    expect((await capture).status).toBe(200)
    expect(await shop.account(orderId)).toMatchObject({ captured: 10_000, authorized: 0 })
  }
  await settled(shop)
  await expectConsistentPayments(shop)
})

test('concurrent refunds of two processes, with lost responses and repeated callbacks, never exceed the captured amount', async () => {
  const shop = await usePayments()
  const other = await usePayments({ databaseUrl: shop.databaseUrl, sandboxUrl: shop.sandbox.url })
  const orderId = await shop.order()
  const { id } = await shop.intent(orderId)
  await shop.act(id, 'pay')
  await until('the account is paid', async () => (await shop.account(orderId)).status === 'paid')
  await shop.sandbox.ask('/test/webhooks', { double: true, reverse: true })
  await shop.sandbox.fault('drop', 2)
  await shop.sandbox.fault('error', 1)
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, nth) =>
      (nth % 2 === 0 ? shop : other).admin.post(`/api/admin/payments/${id}/refund`, { amount: 3_000, reason })
    )
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  await settled(shop)
  expect((await shop.sandbox.objects()).filter(({ object }) => object === 'refund')).toHaveLength(3)
  expect(await shop.account(orderId)).toMatchObject({ refunded: 9_000, refunding: 0 })
  await expectConsistentPayments(shop)
})

test('a payment that is paid and canceled simultaneously ends as one of the two', async () => {
  const shop = await usePayments()
  const orders = await Promise.all(Array.from({ length: 6 }, () => shop.order()))
  const payments = await Promise.all(orders.map(async orderId => (await shop.intent(orderId)).id))
  await Promise.all(
    orders.flatMap((orderId, nth) => [
      shop.act(payments[nth] as string, 'pay'),
      shop.withAccount(orderId, account => account.freeze())
    ])
  )
  await settled(shop)
  await until('every payment is final', async () => {
    const statuses = await Promise.all(payments.map(async id => (await shop.payment(id)).status))
    return statuses.every(status => ['succeeded', 'canceled'].includes(status))
  })
  const intents = (await shop.sandbox.objects()).filter(({ object }) => object === 'payment_intent')
  const paid = intents.filter(({ status }) => status === 'succeeded').length
  const captured = await Promise.all(orders.map(async orderId => (await shop.account(orderId)).captured))
  expect(captured.filter(amount => amount === 10_000)).toHaveLength(paid)
  await expectConsistentPayments(shop)
})
