import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { useSandbox } from '../../test/support/payments.ts'
import { createSandboxProcess } from './child-process.ts'
import { startSandboxServer } from './server.ts'

const INTENT = { amount: 1_000, currency: 'eur', metadata: { payment_id: 'p' } }
const keyed = (key: string) => ({ 'idempotency-key': key })

describe('idempotency keys of the sandbox', () => {
  test('the payment sandbox replays a response for the same key and body, rejects another body, and forgets after a day', async () => {
    const { ask } = await useSandbox()
    const make = (body: object = INTENT) => ask('/v1/payment_intents', body, keyed('k'))
    const first = await make()
    const again = await make()
    expect([again.id, again.headers.get('idempotent-replayed')]).toEqual([first.id, 'true'])
    const other = await make({ ...INTENT, amount: 2_000 })
    expect([other.httpStatus, other.error.type]).toEqual([400, 'idempotency_error'])
    // The clock also runs by itself, so the advance stays below a day.
    await ask('/test/clock', { advance_seconds: 86_340 })
    expect((await make()).id).toBe(first.id)
    await ask('/test/clock', { advance_seconds: 60 })
    expect((await make()).id).not.toBe(first.id)
  })

  test('the payment sandbox also replays error responses for an idempotency key', async () => {
    const { ask } = await useSandbox()
    const { id } = await ask('/v1/payment_intents', INTENT)
    const refund = () => ask('/v1/refunds', { payment_intent: id, amount: 1 }, keyed('k'))
    expect((await refund()).error.code).toBe('payment_intent_unexpected_state')
    await ask(`/test/payment_intents/${id}/pay`, {})
    expect((await refund()).error.code).toBe('payment_intent_unexpected_state')
  })

  test('the payment sandbox returns a conflict while a request with the same idempotency key is running', async () => {
    const { ask, fault } = await useSandbox()
    await fault('delay', 1, 1_000)
    const answers = await Promise.all([1, 2].map(() => ask('/v1/payment_intents', INTENT, keyed('k'))))
    expect(answers.map(({ httpStatus }) => httpStatus).sort()).toEqual([200, 409])
  })
})

test('sandbox captures never exceed the authorized amount, and refunds never exceed the captured amount', async () => {
  const { ask } = await useSandbox()
  const { id } = await ask('/v1/payment_intents', { ...INTENT, capture_method: 'manual' })
  await ask(`/test/payment_intents/${id}/pay`, {})
  const capture = (amount: number) => ask(`/v1/payment_intents/${id}/capture`, { amount_to_capture: amount })
  expect((await capture(1_001)).httpStatus).toBe(400)
  expect((await capture(900)).httpStatus).toBe(200)
  const refund = (amount: number) => ask('/v1/refunds', { payment_intent: id, amount })
  expect((await refund(901)).error.code).toBe('charge_already_refunded')
  expect((await refund(800)).httpStatus).toBe(200)
  expect((await refund(101)).error.code).toBe('charge_already_refunded')
  expect((await refund(100)).httpStatus).toBe(200)
})

test('a change in the payment sandbox is in its ledger before the response, and survives a restart and a cut line', async () => {
  const { ask, fault, folder, objects } = await useSandbox()
  await fault('drop')
  await expect(ask('/v1/payment_intents', INTENT, keyed('k'))).rejects.toThrow()
  const [made] = await objects()
  await appendFile(join(folder, 'ledger.jsonl'), '{"at":1,"objects":[{"id":"pi_half"')
  const options = { folder, port: 0, key: 'key', webhook: { url: '', secret: '' } }
  const again = await startSandboxServer(options)
  onTestFinished(() => again.close())
  const headers = { authorization: 'Bearer key', 'idempotency-key': 'k' }
  const post = { method: 'POST', headers, body: JSON.stringify(INTENT) }
  const answer = await fetch(`${again.url}/v1/payment_intents`, post)
  expect((await answer.json()) as object).toMatchObject({ id: made?.id, status: 'requires_payment_method' })
})

test("the sandbox's payment page links back to the shop after every outcome, but only to web pages", async () => {
  const { ask, url } = await useSandbox()
  const { id, client_secret } = await ask('/v1/payment_intents', INTENT)
  const page = (return_url: string, outcome = '') => {
    const said = new URLSearchParams({ client_secret, return_url, outcome })
    const form = outcome === '' ? undefined : { method: 'POST', body: said }
    return fetch(`${url}/pay/${id}${form ? '' : `?${said}`}`, form).then(answer => answer.text())
  }
  const back = 'http://shop.test/shop?a=1#/orders/"1"'
  const link = '<a href="http://shop.test/shop?a=1#/orders/&#34;1&#34;">'
  expect(await page(back)).toContain(link)
  expect(await page(back, 'fail')).toContain(link)
  expect(await page(back, 'pay')).toContain(link)
  for (const none of ['', 'javascript:alert(1)', '/shop']) expect(await page(none)).not.toContain('<a ')
})

test('reloading a paid payment page, or paying again in a second tab, shows the status and the link to the shop', async () => {
  const { ask, url } = await useSandbox()
  const { id, client_secret } = await ask('/v1/payment_intents', INTENT)
  const return_url = 'https://shop.example/#/orders/1'
  const body = new URLSearchParams({ client_secret, return_url, outcome: 'pay' })
  const post = () => fetch(`${url}/pay/${id}`, { method: 'POST', body, redirect: 'manual' })
  for (const answer of [await post(), await post()]) {
    expect(answer.status).toBe(303)
    const page = await fetch(new URL(answer.headers.get('location') ?? '', url))
    const text = await page.text()
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain('The payment succeeded.')
    expect(text).toContain(`<a href="${return_url}">`)
    expect(text).not.toContain('<button')
  }
  const nowhere = await fetch(`${url}/pay/pi_none?client_secret=x`)
  expect([nowhere.status, await nowhere.text()]).toEqual([
    404,
    expect.stringContaining('There is no such payment.')
  ])
})

test.each([
  ['require_action', 'asks whether it is you'],
  ['fail', 'The payment was declined.'],
  ['pay', 'The payment succeeded.'],
  ['expire', 'The payment was canceled.']
])("the payment sandbox's page shows the status of a payment after %s", async (deed, sentence) => {
  const { ask, url } = await useSandbox()
  const { id, client_secret } = await ask('/v1/payment_intents', INTENT)
  const page = async () => (await fetch(`${url}/pay/${id}?client_secret=${client_secret}`)).text()
  expect(await page()).toContain('This payment waits for you.')
  await ask(`/test/payment_intents/${id}/${deed}`, {})
  expect(await page()).toContain(sentence)
})

test.each([
  ['eur', 12_345, '€123.45'],
  ['usd', 100_000_000_000, '$1,000,000,000.00'],
  ['jpy', 1_500, '¥1,500'],
  ['isk', 1_500, 'ISK\u00a01,500'],
  ['kwd', 1_850, 'KWD\u00a01.850']
])("the payment sandbox's page formats the amount in %s", async (currency, amount, money) => {
  const { ask, url } = await useSandbox()
  const { id, client_secret } = await ask('/v1/payment_intents', { ...INTENT, amount, currency })
  const page = await fetch(`${url}/pay/${id}?client_secret=${client_secret}`)
  expect(await page.text()).toContain(`To be paid: <strong>${money}</strong>.`)
})

test("the payment sandbox's API requires its key, and the payment page requires the secret of the payment", async () => {
  const { ask, url } = await useSandbox()
  expect((await ask('/v1/payment_intents', INTENT, { authorization: 'Bearer x' })).httpStatus).toBe(401)
  const { id, client_secret } = await ask('/v1/payment_intents', INTENT)
  for (const secret of ['', 'x', `${client_secret}x`])
    expect((await fetch(`${url}/pay/${id}?client_secret=${secret}`)).status).toBe(404)
  expect((await fetch(`${url}/pay/${id}?client_secret=${client_secret}`)).status).toBe(200)
})

test("the payment sandbox's child process starts once, returns its URL, and stops on request", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright sandbox '))
  onTestFinished(() => rm(folder, { recursive: true }))
  const optionsOf = () => ({ folder, port: 0, key: 'k', webhook: { url: '', secret: '' } })
  const process = createSandboxProcess(optionsOf)
  const [one, other] = await Promise.all([process.address(), process.address()])
  expect(one).toBe(other)
  expect((await fetch(one)).status).toBe(401)
  await process.stop()
  await expect(fetch(one)).rejects.toThrow()
  // After a restart the URL is the same, because open payment pages use it.
  expect(await process.address()).toBe(one)
  await process.stop()
})

test('processes of one shop use the same payment sandbox, and another one starts it when its process stops', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright sandbox '))
  onTestFinished(() => rm(folder, { recursive: true }))
  const optionsOf = () => ({ folder, port: 0, key: 'k', webhook: { url: '', secret: '' } })
  const [first, second] = [createSandboxProcess(optionsOf), createSandboxProcess(optionsOf)]
  const urls = await Promise.all([first.address(), second.address()])
  expect(new Set(urls).size).toBe(1)
  await first.stop()
  expect(await second.address()).toBe(urls[0])
  await second.stop()
  await expect(fetch(urls[0])).rejects.toThrow()
})
