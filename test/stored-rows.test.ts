import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import { compileSchema } from '../src/kernel/compile-schema.ts'
import { listDeclaredEvents } from '../src/kernel/events.ts'
import { derivedId, derivedIdOfSameTime } from '../src/kernel/ids.ts'
import type { Module } from '../src/module.ts'
import { type PaymentsApi, paymentsModule } from '../src/modules/payments/index.ts'
import { type ContractShop, openContractShop } from './contract/world.ts'
import { recordRows } from './support/record-rows.ts'
import {
  type Callers,
  copyRow,
  enterCallers,
  handledAll,
  insertJobs,
  insertKey,
  leaveToStored,
  RENAMED_TABLES,
  ROWS_FILE,
  readStoredRows,
  type StoredJob,
  type StoredRows
} from './support/stored-rows.ts'
import { useReceiver } from './support/webhook-receiver.ts'

// Rows that an earlier version has written: keys of requests, events and jobs. They outlive an upgrade, so this version
// handles them as if they were its own. `RECORD_ROWS=1 vitest run test/stored-rows` records them again, for a change
// that is intended; the labels in this file are stored, too.

const PATIENCE = { timeout: 60_000 }
const recording = process.env.RECORD_ROWS !== undefined

let world: ContractShop
let stored: StoredRows
let callers: Callers
beforeAll(async () => {
  world = await openContractShop({
    CARTWRIGHT__PAYMENTS__CAPTURE_BEFORE_EXPIRY: recording ? 'warn' : 'capture'
  })
  if (recording) return
  stored = await readStoredRows()
  callers = await enterCallers(world)
})
afterAll(() => world.close())

test.runIf(recording)(
  'the database rows that this version writes are recorded in test/stored-rows.json',
  async () => {
    await writeFile(ROWS_FILE, `${JSON.stringify(await recordRows(world), null, 2)}\n`)
  }
)

/** All tables but the audit log, which lists every request of an administrator. */
async function unchanged() {
  const { 'cartwright.audit': _, ...tables } = await world.stored()
  return tables
}

test.skipIf(recording)(
  'an idempotency key stored by an earlier version replays its response, and executes nothing',
  async () => {
    for (const { row } of stored.keys) await insertKey(world, row)
    const before = await unchanged()
    const responses: unknown[] = []
    for (const { name, request } of stored.keys) {
      const { status, json, headers } = await callers.send(request)
      responses.push({ name, status, replayed: headers['idempotency-replayed'], response: json })
    }
    expect(responses).toEqual(
      stored.keys.map(({ name, status, response }) => ({ name, status, replayed: 'true', response }))
    )
    expect(await unchanged()).toEqual(before)
  }
)

test.skipIf(recording)('an idempotency key stored by an earlier version rejects another body', async () => {
  const before = await unchanged()
  const responses: unknown[] = []
  for (const { name, request } of stored.keys) {
    const { status, json } = await callers.send({ ...request, body: `${request.body} ` })
    responses.push([name, status, json.code])
  }
  expect(responses).toEqual(stored.keys.map(({ name }) => [name, 422, 'IDEMPOTENCY_KEY_REUSED']))
  expect(await unchanged()).toEqual(before)
})

test.skipIf(recording)(
  'a request whose process of an earlier version died is executed with the ids of its stored key',
  async () => {
    const { request, row, verificationId } = stored.registration
    await insertKey(world, row)
    const { status, json } = await callers.send(request)
    expect([status, json.user.id]).toEqual([201, row.operation_id])
    const tokens = await world.sql('select id from auth.one_time_tokens where user_id = $1', [json.user.id])
    expect(tokens).toEqual([{ id: verificationId }])
  }
)

test.skipIf(recording)(
  'a committed request of an earlier version without a stored response returns what it created',
  async () => {
    const { request, row, orderId } = stored.paymentIntent
    const customerId = callers.id.customer
    const { id: original } = await world.order()
    await copyRow(world, 'orders.orders', original, {
      id: orderId,
      customer_id: customerId,
      number: '0000-0000'
    })
    const account = {
      orderId,
      customerId,
      currency: 'USD',
      dueMinor: 1_490,
      tokenVersion: 1,
      reference: 'A-1'
    }
    const payments = world.apiOf(paymentsModule) as PaymentsApi
    await world.db.transaction(tx => payments.openAccount(tx, account))
    await insertKey(world, row)
    const first = await callers.send(request)
    expect([first.status, first.json.id], first.text).toEqual([201, row.operation_id])
    await world.sql(`delete from cartwright.idempotency_keys where key_hash = decode($1, 'base64')`, [
      row.key_hash
    ])
    await insertKey(world, { ...row, state: 'applied' })
    const again = await callers.send(request)
    expect([again.status, again.json]).toEqual([201, first.json])
    expect(await world.sql('select id from payments.payments where order_id = $1', [orderId])).toHaveLength(1)
  }
)

test.skipIf(recording)('event and job payloads stored by an earlier version match their declarations', () => {
  const types = [
    ...listDeclaredEvents(),
    ...(standardModules as readonly Module[]).flatMap(({ jobs = [] }) => jobs)
  ]
  const schemas = new Map(types.map(({ name, payload }) => [name, payload]))
  const wrong = stored.jobs.flatMap(({ handler, payload }) => {
    const schema = schemas.get(handler.replace(/^.*:/, ''))
    if (schema === undefined) return [`${handler}: not declared`]
    const fields = Object.keys((schema as { properties?: object }).properties ?? {})
    const unknown = Object.keys(payload).filter(name => !fields.includes(name))
    const real = JSON.parse(JSON.stringify(payload).replace(/\{[a-z_]+\.[a-z_]+\}/g, callers.id.customer))
    const [error] = compileSchema(schema)(real)
    return [
      ...unknown.map(name => `${handler}: ${name} is not declared`),
      ...(error === undefined ? [] : [`${handler}: ${error.instancePath} ${error.keyword}`])
    ]
  })
  expect(wrong).toEqual([])
})

/** The stored rows of one handler. */
const storedOf = (handler: string): StoredJob[] => stored.jobs.filter(job => job.handler === handler)
/** Delivers the stored rows of a handler twice, about this row. */
async function deliver(handler: string, id = callers.id.customer): Promise<string> {
  const [eventId = ''] = await insertJobs(world, storedOf(handler), { times: 2, idOf: () => id })
  await handledAll(world, [eventId])
  return eventId
}
const operationsOf = (paymentId: string, kind: string) =>
  world.sql('select id, state from payments.operations where payment_id = $1 and kind = $2', [
    paymentId,
    kind
  ])

test.skipIf(recording)(
  'jobs stored by an earlier version have their effect once, however often they are delivered',
  async () => {
    const { sql, made, sandbox } = world
    const receiver = await useReceiver()
    await made('/api/admin/webhooks/endpoints', { url: receiver.url, event_types: ['orders.placed'] })
    await leaveToStored(world, [
      'payments.send_operation',
      'notifications:orders.placed',
      'webhooks:orders.placed',
      'notifications:orders.canceled'
    ])

    // A payment that expires within a day is captured, under the id that belongs to it.
    const held = await world.cardOrder()
    await sql(`update payments.payments set authorized_until = now() + interval '1 hour' where id = $1`, [
      held.payment
    ])
    await deliver('payments.watch_expiry')
    const capture = derivedId(held.payment, 'capture before it runs out')
    expect(await operationsOf(held.payment, 'capture')).toMatchObject([{ id: capture }])
    await deliver('payments.send_operation', capture)
    await expect
      .poll(() => operationsOf(held.payment, 'capture'), PATIENCE)
      .toEqual([{ id: capture, state: 'succeeded' }])
    expect(await sandbox.intentOf(held.payment)).toMatchObject({ amount_received: 2_490 })

    // A canceled order is refunded, once.
    await made(`/api/admin/orders/${held.id}/cancel`, {}).catch(() => {})
    const refund = derivedId(derivedId(held.id, 'canceled:2490'), `refund:${held.payment}`)
    await expect.poll(() => operationsOf(held.payment, 'refund'), PATIENCE).toMatchObject([{ id: refund }])
    await deliver('payments.send_operation', refund)
    await expect
      .poll(() => operationsOf(held.payment, 'refund'), PATIENCE)
      .toEqual([{ id: refund, state: 'succeeded' }])
    const refunds = (await sandbox.objects()).filter(({ object }) => object === 'refund')
    expect(refunds).toMatchObject([{ amount: 2_490 }])

    // An order is mailed about, and a webhook is sent, once.
    const { id } = await world.order()
    const told = await deliver('notifications:orders.placed', id)
    const messages = await sql('select id from notifications.messages where id = $1', [
      derivedIdOfSameTime(told, `order_placed:${world.ada.email}`)
    ])
    expect(messages).toHaveLength(1)
    await expect
      .poll(() => sql('select 1 from notifications.mailbox where id = $1', [messages[0]?.id]), PATIENCE)
      .toHaveLength(1)
    const hooked = await deliver('webhooks:orders.placed', id)
    const deliveries = () => sql('select status from webhooks.deliveries where event_id = $1', [hooked])
    await expect.poll(deliveries, PATIENCE).toEqual([{ status: 'delivered' }])
    expect(receiver.received).toHaveLength(1)

    // An order that was not paid in time expires, once.
    await sql(
      `update orders.orders set created_at = created_at - interval '2 days', expires_at = expires_at - interval '2 days'
     where id = $1`,
      [id]
    )
    await deliver('orders.expire_orders')
    await deliver('orders.expire_orders')
    const voided = derivedId(id, 'void:0')
    expect(await operationsOf(id, 'void')).toMatchObject([{ id: voided }])
    await deliver('payments.send_operation', voided)
    const { json: expired } = await world.admin.get(`/api/admin/orders/${id}`)
    expect(expired.status).toBe('canceled')
    expect(expired.history.map(({ action }: { action: string }) => action)).toEqual([
      'create',
      'cancel',
      'confirm_cancel'
    ])
  }
)

test.skipIf(recording)('every job stored by an earlier version is handled, and none is dead', async () => {
  const ids = new Map<string, string>()
  const tables = new Set(JSON.stringify(stored.jobs).match(/(?<=\{)[a-z_]+\.[a-z_]+(?=\})/g))
  await world.shippedOrder()
  for (const table of tables) {
    const [row] = await world.sql(`select id from ${RENAMED_TABLES[table] ?? table} order by id desc limit 1`)
    ids.set(table, String(row?.id ?? callers.id.customer))
  }
  const eventIds = await insertJobs(world, stored.jobs, { times: 2, idOf: table => ids.get(table) ?? '' })
  await handledAll(world, eventIds)
  expect(await world.sql('select handler, error from cartwright.jobs where error is not null')).toEqual([])
})
