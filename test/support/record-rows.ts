import { standardModules } from '../../src/app.ts'
import { listDeclaredEvents } from '../../src/kernel/events.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Module } from '../../src/module.ts'
import { everyModule } from '../contract/fixtures/index.ts'
import { optionsOf, prepare, readContract, targetOf } from '../contract/requests.ts'
import { CARD, type ContractShop, UNREACHABLE } from '../contract/world.ts'
import { itemOf } from './checkouts.ts'
import { doOnceMore } from './jobs.ts'
import { sent, TRANSFER } from './orders.ts'
import {
  type Callers,
  enterCallers,
  KEY_COLUMNS,
  type StoredJob,
  type StoredRequest,
  type StoredRows
} from './stored-rows.ts'

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Sends keyed requests and every request of the contract, and returns the rows that they stored. */
export async function recordRows(world: ContractShop): Promise<StoredRows> {
  const { sql, made } = world
  await sql(
    `create table public.recorded as select handler, subject, event_id, payload, id from cartwright.jobs where false`
  )
  await sql(`create function public.record_job() returns trigger language plpgsql as $$ begin
    insert into public.recorded values (new.handler, new.subject, new.event_id, new.payload, new.id); return new; end $$`)
  await sql(
    `create trigger record_job before insert on cartwright.jobs for each row execute function public.record_job()`
  )
  await made('/api/admin/webhooks/endpoints', { url: UNREACHABLE })
  const callers = await enterCallers(world)
  const keys = await recordKeys(world, callers)
  await performEverything(world)
  await performRareThings(world)
  await world.handled()
  await emitTheRest(world)
  await world.handled()
  return { ...keys, jobs: await recordedJobs(world) }
}

async function recordKeys(world: ContractShop, { send, as }: Callers): Promise<Omit<StoredRows, 'jobs'>> {
  const { sql, mug, guestCheckout } = world
  const { routes } = await readContract(world)
  const order = async (payment: object) => {
    const { json } = await world.as({ token: as.customer }).post('/api/orders', { ...sent(mug), payment })
    return json.id as string
  }
  const known = new Set<string>()
  const keys: StoredRows['keys'] = []
  const request = (
    name: string,
    given: Omit<StoredRequest, 'headers' | 'body'> & { headers?: object; body?: unknown }
  ) => ({
    ...given,
    headers: { 'idempotency-key': `stored-${name}-0123456789abcdef`, ...given.headers },
    body: JSON.stringify(given.body ?? {})
  })
  const newRow = async () => {
    const rows = await sql(
      `select encode(key_hash, 'base64') as key_hash, encode(fingerprint, 'base64') as fingerprint, state, operation_id,
        result_id, status, translate(encode(answer, 'base64'), E'\\n', '') as answer from cartwright.idempotency_keys`
    )
    const row = rows.find(each => !known.has(String(each.key_hash)))
    if (row === undefined) throw new Error('no key was stored')
    known.add(String(row.key_hash))
    return Object.fromEntries(
      Object.keys(KEY_COLUMNS).map(name => [name, row[name] as string | number | null])
    )
  }
  const record = async (name: string, given: Parameters<typeof request>[1]) => {
    const sentOne = request(name, given)
    const { status, json } = await send(sentOne)
    if (status >= 300) throw new Error(`${name}: ${status} ${JSON.stringify(json)}`)
    keys.push({ name, request: sentOne, row: await newRow(), status, response: json })
  }
  const recordAdmin = async (name: string, operation: string) => {
    const route = routes.find(each => each.name === operation)
    if (route === undefined) throw new Error(`no ${operation}`)
    const ready = await prepare(world, route, everyModule)
    const { body, headers } = ready
    await record(name, { method: route.method, url: targetOf(route, ready), caller: 'admin', headers, body })
  }
  const customer = { method: 'POST', caller: 'customer' } as const
  await record('cart', { ...customer, url: '/api/cart', body: itemOf(mug) })
  await record('cart-version', {
    ...customer,
    url: '/api/cart',
    body: itemOf(mug),
    headers: { 'if-match': '*' }
  })
  await record('checkout', {
    ...customer,
    url: '/api/checkouts',
    body: sent(mug),
    headers: { 'x-market': 'default' }
  })
  await record('order', { ...customer, url: '/api/orders', body: { ...sent(mug, 2), payment: TRANSFER } })
  const { id, headers } = await guestCheckout()
  await record('guest', { method: 'POST', caller: null, url: `/api/checkouts/guest/${id}/cancel`, headers })
  await recordAdmin('capture', 'post /api/admin/payments/{id}/capture')
  await recordAdmin('refund', 'post /api/admin/orders/{id}/refunds')
  await recordAdmin('shipment', 'post /api/admin/orders/{id}/shipments')
  await recordAdmin('cancellation', 'post /api/admin/orders/{id}/cancel')
  await recordAdmin('stock-adjustment', 'post /api/inventory/adjustments')
  await recordAdmin('promotion', 'post /api/admin/promotions')
  await recordAdmin('user', 'patch /api/admin/users/{id}')

  /** The row as a process leaves it that dies before it commits. */
  const recordRetry = async (name: string, given: Parameters<typeof request>[1]) => {
    const sentOne = request(name, given)
    const { json } = await send(sentOne)
    const row = { ...(await newRow()), state: 'running', result_id: null, status: null, answer: null }
    return { retry: { request: sentOne, row }, json }
  }
  const orderId = await order({})
  const body = { order_id: orderId, ...TRANSFER }
  const intent = await recordRetry('payment-intent', { ...customer, url: '/api/payments/intent', body })
  const account = { email: 'registered@stored.example', password: 'nine lives and a piano' }
  const url = '/api/auth/register'
  const registered = await recordRetry('registration', { method: 'POST', url, caller: null, body: account })
  const [token] = await sql('select id from auth.one_time_tokens where user_id = $1', [
    registered.json.user.id
  ])
  return {
    keys,
    paymentIntent: { ...intent.retry, orderId },
    registration: { ...registered.retry, verificationId: String(token?.id) }
  }
}

/** Performs every operation of the contract once. */
async function performEverything(world: ContractShop): Promise<void> {
  const { routes } = await readContract(world)
  for (const route of routes) {
    const request = await prepare(world, route, everyModule)
    await world.request(route.method, targetOf(route, request), optionsOf(request))
  }
}

/** What no request of the contract causes: reports of carriers and providers, and a payment that is about to expire. */
async function performRareThings(world: ContractShop): Promise<void> {
  const { made, sandbox, request, callback, shippedOrder, cardOrder, order, paymentOf, sql } = world
  for (const status of ['delivered', 'returned']) {
    const { shipmentId } = await shippedOrder()
    const occurred_at = new Date().toISOString()
    await made(`/api/admin/shipping/shipments/${shipmentId}/events`, { status, occurred_at })
  }
  const callBack = async (payment: string) => {
    const object = await sandbox.intentOf(payment)
    const type = 'payment_intent.updated'
    await request(
      'POST',
      '/api/payments/callback/sandbox',
      callback({ id: `evt_${newId()}`, object: 'event', type, data: { object } })
    )
  }
  const failing = await paymentOf((await order(CARD)).id)
  await sandbox.ask(`/test/payment_intents/${(await sandbox.intentOf(failing)).id}/fail`, {})
  await callBack(failing)
  const disputed = (await cardOrder()).payment
  await made(`/api/admin/payments/${disputed}/capture`, {})
  await sandbox.ask(`/test/payment_intents/${(await sandbox.intentOf(disputed)).id}/dispute`, {})
  await callBack(disputed)
  const { payment } = await cardOrder()
  await sql(`update payments.payments set authorized_until = now() + interval '1 hour' where id = $1`, [
    payment
  ])
  await doOnceMore(world, 'payments.watch_expiry')
}

/** Has the outbox write what is still missing, with a payload of each form that its schema allows. */
async function emitTheRest({ sql, db, platform, order, mug, ada }: ContractShop): Promise<void> {
  const rows = await sql('select distinct handler from public.recorded')
  const names = new Set(rows.map(({ handler }) => String(handler).replace(/^.*:/, '')))
  const { id } = await order()
  const like = { variant_id: mug, item_id: mug, user_id: ada.id, currency: 'USD' }
  const examples = (schema: Schema) => exampleOf(schema, { ...like, id })
  await db.transaction(async tx => {
    for (const type of listDeclaredEvents())
      if (!names.has(type.name))
        platform.outbox.emit(
          tx,
          type,
          type.isVersioned ? { id, version: 1 } : id,
          examples(type.payload) as object
        )
    for (const type of (standardModules as readonly Module[]).flatMap(({ jobs = [] }) => jobs))
      if (!names.has(type.name) && type.intervalSeconds === undefined)
        platform.outbox.enqueue(tx, type, examples(type.payload) as object)
  })
}

type Schema = Partial<{
  enum: unknown[]
  const: unknown
  type: string
  format: string
  anyOf: Schema[]
  items: Schema
  properties: Record<string, Schema>
}>
/** `like`: values of properties by their names; `id` for all other ids. */
function exampleOf(schema: Schema, like: Record<string, string>): unknown {
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, like)
  if (schema.properties !== undefined)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, each]) => [name, like[name] ?? exampleOf(each, like)])
    )
  if (schema.items !== undefined) return [exampleOf(schema.items, like)]
  if (schema.format === 'date-time') return '2026-11-24T00:00:00.000Z'
  const examples: Record<string, unknown> = { integer: 1, boolean: true }
  return examples[schema.type ?? ''] ?? (schema.format === 'uuid' ? like.id : 'a text')
}

/** One row for each handler and each set of fields, with names of tables instead of ids. */
async function recordedJobs({ sql }: ContractShop): Promise<StoredJob[]> {
  const rows = await sql(
    'select handler, subject, payload from public.recorded where id > 0 order by handler, id'
  ).then(all => all.filter(({ handler }) => !String(handler).startsWith('contract:')))
  const scheduled = await sql(
    'select handler, subject, payload, true as "isSchedule" from cartwright.jobs where id = 0 order by handler'
  )
  const forms = new Map<string, StoredJob>()
  for (const row of [...rows, ...scheduled] as StoredJob[])
    forms.set([row.handler, ...Object.keys(row.payload).sort()].join(' '), row)
  const jobs = [...forms.values()].sort((a, b) => (a.handler < b.handler ? -1 : 1))
  const ids = [...new Set(JSON.stringify(jobs).match(UUID) ?? [])]
  const tables = await sql(
    `select table_schema || '.' || table_name as name from information_schema.columns
     where column_name = 'id' and data_type = 'uuid' and table_schema <> 'cartwright'
       and table_name not in ('mailbox', 'requests') order by 1`
  )
  const names = new Map<string, string>()
  for (const { name } of tables)
    for (const { id } of await sql(`select id from ${name} where id = any ($1)`, [ids]))
      if (!names.has(String(id))) names.set(String(id), String(name))
  const named = JSON.stringify(jobs).replace(UUID, id => (names.has(id) ? `{${names.get(id)}}` : id))
  return JSON.parse(named)
}
