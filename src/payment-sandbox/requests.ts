import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { SandboxApiError, type SandboxEngine } from './engine.ts'
import { sendSandboxJson } from './http.ts'
import type { SandboxObject } from './ledger.ts'
import { newSandboxObjectId } from './objects.ts'
import type { SandboxWebhookSender } from './webhooks.ts'

/**
 * A fault of the next API responses, for tests. `drop`: the operation is done and the connection closes without a response.
 * `strange`: the response states a wrong amount.
 */
type SandboxResponseFault = { fault: 'drop' | 'delay' | 'error' | 'strange'; times: number; ms: number }
export type SandboxRequestBody = Record<string, unknown>
/** The parts of a running sandbox that its requests use. */
export type SandboxRequestDeps = {
  engine: SandboxEngine
  webhooks: SandboxWebhookSender
  faults: SandboxResponseFault[]
  running: Set<string>
}

/** Object types by their name in paths. */
const OBJECT_TYPES: Readonly<Record<string, string>> = {
  payment_intents: 'payment_intent',
  refunds: 'refund',
  disputes: 'dispute'
}

export function readSandboxObjects(
  engine: SandboxEngine,
  kind: string,
  id: string,
  query: URLSearchParams
): unknown {
  const [type, since] = [OBJECT_TYPES[kind], query.get('created[gte]')]
  if (type !== undefined && since !== null)
    return engine.listCreatedSince(
      type,
      Number(since),
      query.get('starting_after'),
      Number(query.get('limit'))
    )
  if (kind === 'refunds') return listOf(engine.refundsOf(query.get('operation_id') ?? ''))
  if (kind !== 'payment_intents') throw sandboxPathNotFoundError()
  return id === ''
    ? listOf(engine.intentsOf(query.get('payment_id') ?? ''))
    : engine.expand(engine.intent(id))
}
const listOf = (data: readonly SandboxObject[]) => ({ object: 'list', data, has_more: false })
export const sandboxPathNotFoundError = () =>
  new SandboxApiError(404, 'invalid_request_error', 'resource_missing', 'There is no such path.')

export function createSandboxChangeFromRequest(
  { operations, intent }: SandboxEngine,
  path: string,
  id: string,
  body: SandboxRequestBody
) {
  switch (path) {
    case 'payment_intents/':
      return operations.create(body)
    case 'payment_intents/capture':
      return operations.capture(intent(id), body)
    case 'payment_intents/cancel':
      return operations.cancel(intent(id))
    case 'refunds/':
      return operations.refund(body)
    default:
      throw sandboxPathNotFoundError()
  }
}

/** Runs a request once per idempotency key. Its response, errors included, is replayed for a day of the sandbox's clock. */
export async function runSandboxRequestOnce(
  deps: SandboxRequestDeps,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
  fingerprint: string,
  change: () => Parameters<SandboxEngine['commit']>[0]
): Promise<void> {
  const { engine, webhooks, running } = deps
  const of = key === '' ? undefined : { key, fingerprint }
  if (running.has(key))
    throw new SandboxApiError(
      409,
      'idempotency_error',
      'idempotency_key_in_use',
      'The first request is still running.'
    )
  const stored = key === '' ? undefined : engine.storedResponse(key)
  if (stored !== undefined && stored.fingerprint !== fingerprint)
    throw new SandboxApiError(
      400,
      'idempotency_error',
      'idempotency_key_reused',
      'The key came with another request.'
    )
  if (of !== undefined) running.add(key)
  try {
    const outcome = stored ?? commitSandboxChange(engine, change, of)
    webhooks.wake()
    const fault = takeFault(deps)
    if (fault?.fault === 'delay') await delay(fault.ms)
    if (fault?.fault === 'drop') request.socket.destroy()
    else if (fault?.fault === 'error') sendSandboxJson(response, 500, { error: { type: 'api_error' } })
    else if (fault?.fault === 'strange')
      sendSandboxJson(response, outcome.status, { ...(outcome.body as SandboxRequestBody), amount: 99_999 })
    else sendSandboxJson(response, outcome.status, outcome.body, stored && { 'idempotent-replayed': 'true' })
  } finally {
    running.delete(key)
  }
}

export function commitSandboxChange(
  engine: SandboxEngine,
  change: () => Parameters<SandboxEngine['commit']>[0],
  key: { key: string; fingerprint: string } | undefined
): { status: number; body: unknown } {
  try {
    return { status: 200, body: engine.commit(change(), key) }
  } catch (error) {
    if (!(error instanceof SandboxApiError)) throw error
    if (key !== undefined) engine.storeError(key, error)
    return error
  }
}

function takeFault({ faults }: SandboxRequestDeps): SandboxResponseFault | undefined {
  const [fault] = faults
  if (fault === undefined) return undefined
  fault.times -= 1
  if (fault.times <= 0) faults.shift()
  return fault
}

/** Runs the test API: payments, faults and time that a test requests. */
export function runSandboxTestRequest(
  { engine, webhooks, faults }: SandboxRequestDeps,
  kind: string,
  id: string,
  verb: string,
  body: SandboxRequestBody
): unknown {
  const { operations, intent, refund } = engine
  const commit = (change: Parameters<SandboxEngine['commit']>[0]) => {
    const object = engine.commit(change)
    webhooks.wake()
    return object
  }
  switch (verb === '' ? kind : `${kind}/${verb}`) {
    case 'answers': {
      const { fault, times = 1, ms = 0 } = body as Partial<SandboxResponseFault>
      if (fault === undefined) faults.length = 0
      else faults.push({ fault, times, ms })
      return { faults }
    }
    case 'webhooks':
      Object.assign(webhooks.faults, body)
      webhooks.wake()
      return webhooks.faults
    case 'clock':
      engine.advance(Number(body.advance_seconds))
      return { now: engine.now() }
    case 'payment_intents/pay':
      return commit(operations.pay(intent(id), newSandboxObjectId('pm')))
    case 'payment_intents/require_action':
      return commit(operations.requireAction(intent(id), newSandboxObjectId('pm')))
    case 'payment_intents/fail':
      return commit(operations.fail(intent(id), intent(id).payment_method ?? newSandboxObjectId('pm')))
    case 'payment_intents/expire':
      return commit(operations.cancel(intent(id), 'expired'))
    case 'payment_intents/capture':
      return commit(operations.capture(intent(id), body))
    case 'payment_intents/capture_late':
      return commit(operations.captureLate(intent(id)))
    case 'payment_intents/dispute':
      return commit(operations.dispute(intent(id)))
    case 'refunds/fail':
      return commit(operations.failRefund(refund(id)))
    default:
      throw sandboxPathNotFoundError()
  }
}
