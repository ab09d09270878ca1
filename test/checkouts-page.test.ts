import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { CHECKOUT_FINDING_CODES, isBlockingFinding } from '../src/modules/orders/checkouts/findings.ts'
import { createTestApp } from './support/app.ts'
import { runExamples } from './support/page-examples.ts'

const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

test('the examples of docs/checkouts.md run in their order', async () => {
  const app = await createTestApp({
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  try {
    const { access_token: token } = (await app.request('POST', '/api/auth/login', { body: ADMIN })).json
    const made = async (path: string, body: object) => {
      const { status, json, text } = await app.request('POST', `/api/${path}`, { token, body })
      expect(status, text).toBe(201)
      return json
    }
    await made('catalog/products', { name: 'Mug', variants: [{ sku: 'MUG', price: 1_800 }] })
    const zone = await made('admin/shipping/zones', { name: 'Sweden', areas: [{ country: 'SE' }] })
    for (const [service, amount] of [
      ['Standard', 490],
      ['Express', 990]
    ] as const) {
      const method = await made('admin/shipping/methods', { kind: 'shipping', service })
      await made('admin/shipping/rates', { method_id: method.id, zone_id: zone.id, amount })
    }
    const said = await runExamples('checkouts.md', {
      origin: await app.app.listen({ port: 0, host: '127.0.0.1' }),
      tells: [
        'begun',
        'ofCart',
        'own',
        'open',
        'ready',
        'sum',
        'tax_summary',
        'faster',
        'now',
        'order',
        'ordered',
        'canceled'
      ]
    })
    expect(said).toMatchObject({
      begun: {
        total: 3_600,
        findings: [{ code: 'EMAIL_MISSING' }, { code: 'SHIPPING_DESTINATION_MISSING' }]
      },
      ofCart: { subtotal: 3_600 },
      own: { subtotal: 3_600, customer_id: expect.any(String) },
      ready: { ready: true, total: 4_090, version: 3, findings: [] },
      sum: 4_090,
      tax_summary: [],
      faster: { total: 4_590 },
      now: { total: 4_590, version: 4 },
      order: { total: 4_590, order_token: expect.stringContaining('ort_') },
      ordered: { status: 'action_required', order_id: expect.any(String) },
      canceled: { status: 'canceled' }
    })
    expect(said.open.slice(0, 2)).toEqual([
      'shipping_address/name is required',
      'shipping_address/line1 is required'
    ])
  } finally {
    await app.close()
  }
})

test('docs/checkouts.md says of every checkout finding whether it blocks the order', async () => {
  const page = await readFile(new URL('../docs/checkouts.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| (`.*`) \| (yes|no) \|/gm)].flatMap(([, codes = '', blocks]) =>
    [...codes.matchAll(/`(\w+)/g)].map(([, code = '']) => ({ code, blocks: blocks === 'yes' }))
  )
  const named = CHECKOUT_FINDING_CODES.filter(code => !code.startsWith('CODE_'))
  const expected = named.map(code => ({ code, blocks: isBlockingFinding({ code }) }))
  expect(rows.filter(({ code }) => code !== 'CODE_').sort(byCode)).toEqual(expected.sort(byCode))
  expect(
    CHECKOUT_FINDING_CODES.filter(code => code.startsWith('CODE_') && isBlockingFinding({ code }))
  ).toEqual([])
})
const byCode = (a: { code: string }, b: { code: string }) => (a.code < b.code ? -1 : 1)
