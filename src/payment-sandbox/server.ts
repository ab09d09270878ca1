import { hash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSandboxEngine, SandboxApiError, type SandboxEngine } from './engine.ts'
import { readSandboxRequestBody, sendSandboxHtml, sendSandboxJson } from './http.ts'
import { openSandboxLedger } from './ledger.ts'
import { newSandboxObjectId, type SandboxIntent } from './objects.ts'
import { renderMissingPaymentPage, renderSandboxPaymentPage } from './page.ts'
import {
  commitSandboxChange,
  createSandboxChangeFromRequest,
  readSandboxObjects,
  runSandboxRequestOnce,
  runSandboxTestRequest,
  type SandboxRequestBody,
  type SandboxRequestDeps,
  sandboxPathNotFoundError
} from './requests.ts'
import { findRunningSandbox, readSandboxPort, sandboxPortFile } from './running.ts'
import { createSandboxWebhookSender } from './webhooks.ts'

export type PaymentSandboxOptions = {
  folder: string
  port: number
  /** What callers of its API send as their bearer token. */
  key: string
  webhook: { url: string; secret: string }
}

/** Starts a payment provider that moves no money. It listens on localhost only. */
export async function startSandboxServer({ folder, port, key, webhook }: PaymentSandboxOptions) {
  const ledger = openSandboxLedger(folder)
  const engine = createSandboxEngine(ledger)
  const webhooks = createSandboxWebhookSender({ engine, ...webhook })
  const deps: SandboxRequestDeps = { engine, webhooks, faults: [], running: new Set() }
  const server = createServer((request, response) => {
    answer(deps, key, request, response).catch(error => {
      if (error instanceof SandboxApiError) sendSandboxJson(response, error.status, error.body)
      else sendSandboxJson(response, 500, { error: { type: 'api_error', message: String(error) } })
    })
  })
  // Reuses the last port if it is free, so that payment pages of earlier payments keep their URL.
  const known = readSandboxPort(folder)
  const isFree = await listen(server, port === 0 ? known : port).then(
    () => true,
    async error => {
      if (port !== 0 || (await findRunningSandbox({ folder, key })) !== undefined) throw error
      return false
    }
  )
  if (!isFree) await listen(server, 0)
  const listening = (server.address() as AddressInfo).port
  // Of several processes that start the first sandbox of a folder, one creates the file and the others fail.
  writeFileSync(sandboxPortFile(folder), String(listening), { flag: known === 0 ? 'wx' : 'w' })
  return {
    url: `http://127.0.0.1:${listening}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await webhooks.stop()
      ledger.close()
    }
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

async function answer(
  deps: SandboxRequestDeps,
  key: string,
  request: IncomingMessage,
  response: ServerResponse
) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
  const [, area = '', kind = '', id = '', verb = ''] = pathname.split('/')
  if (area === 'pay') return page(deps, kind, searchParams, request, response)
  if (!areEqual(request.headers.authorization ?? '', `Bearer ${key}`))
    throw new SandboxApiError(
      401,
      'invalid_request_error',
      'api_key_invalid',
      'The key of the sandbox is wrong.'
    )
  if (request.method === 'GET')
    return sendSandboxJson(response, 200, readSandboxObjects(deps.engine, kind, id, searchParams))
  const text = await readSandboxRequestBody(request)
  const body = JSON.parse(text === '' ? '{}' : text) as SandboxRequestBody
  if (area === 'test')
    return sendSandboxJson(response, 200, runSandboxTestRequest(deps, kind, id, verb, body))
  const idempotencyKey = request.headers['idempotency-key']
  await runSandboxRequestOnce(
    deps,
    request,
    response,
    String(idempotencyKey ?? ''),
    hash('sha256', pathname + text),
    () => createSandboxChangeFromRequest(deps.engine, `${kind}/${verb}`, id, body)
  )
}

async function page(
  { engine, webhooks }: SandboxRequestDeps,
  id: string,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> {
  const form = request.method === 'POST' ? new URLSearchParams(await readSandboxRequestBody(request)) : query
  const [clientSecret, returnUrl] = [form.get('client_secret') ?? '', form.get('return_url') ?? '']
  const intent = intentOf(engine, id, clientSecret)
  if (intent === undefined) return sendSandboxHtml(response, 404, renderMissingPaymentPage())
  if (request.method === 'POST') {
    commitSandboxChange(engine, () => outcomeOf(engine, intent, form.get('outcome') ?? ''), undefined)
    webhooks.wake()
    // Redirects, so that a reload requests the page and does not repeat the payment.
    const query = new URLSearchParams({ client_secret: clientSecret, return_url: returnUrl })
    response.writeHead(303, { location: `/pay/${id}?${query}` }).end()
    return
  }
  sendSandboxHtml(response, 200, renderSandboxPaymentPage(intent, returnUrl))
}

function intentOf(engine: SandboxEngine, id: string, clientSecret: string): SandboxIntent | undefined {
  try {
    const intent = engine.intent(id)
    return areEqual(clientSecret, intent.client_secret) ? intent : undefined
  } catch (error) {
    if (error instanceof SandboxApiError) return undefined
    throw error
  }
}

function outcomeOf(
  { operations: { pay, requireAction, fail } }: SandboxEngine,
  intent: SandboxIntent,
  name: string
) {
  const outcomes = { pay, authenticate: requireAction, fail }
  const outcome = Object.hasOwn(outcomes, name) ? outcomes[name as keyof typeof outcomes] : undefined
  if (outcome === undefined) throw sandboxPathNotFoundError()
  return outcome(intent, intent.payment_method ?? newSandboxObjectId('pm'))
}

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
