import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { customer } from '../../../testing.ts'
import { exportOrdersAsCsv } from './export.ts'
import type { OrderFilters } from './filters.ts'

type Row = Record<string, string>

const rowsOf = (csv: string): Row[] => {
  const [heading = '', ...lines] = csv.trimEnd().split('\r\n')
  const columns = heading.split(',')
  return lines.map(line => Object.fromEntries(line.split(',').map((cell, index) => [columns[index], cell])))
}
const sum = (rows: readonly Row[], column: string) =>
  rows.reduce((total, row) => total + Number(row[column]), 0)

/** A shop with two tax rates, a promotion and two orders: one of two products, one of one. */
async function useTaxedOrders() {
  const shop = await useOrders()
  const { admin, made, mug } = shop
  await made('taxes/categories', { code: 'food', name: 'Food' })
  const tea = await shop.sell({ sku: 'TEA-1', price: 333, tax_category: 'food' })
  const zone = await made('taxes/zones', { name: 'Sweden', country: 'SE' })
  for (const [category, rate_ppm] of [
    ['standard', 250_000],
    ['food', 125_000]
  ] as const)
    await made('taxes/rates', { zone_id: zone.id, category, name: 'Moms', rate_ppm })
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  await made('promotions', { name: 'A tenth', class: 'order', effect })
  const order = async (...items: object[]) => {
    const body = {
      items,
      shipping_address: { ...STOCKHOLM, company: 'Ada & Co' },
      payment: TRANSFER,
      billing_address: { ...STOCKHOLM, name: 'Lovelace AB' }
    }
    const { status, json, text: answer } = await shop.as(customer()).post('/api/orders', body)
    expect(status, answer).toBe(201)
    return json
  }
  const orders = [await order(itemOf(mug, 3), itemOf(tea, 7)), await order(itemOf(tea))]
  const file = async (query = '') => {
    const { status, text: csv } = await admin.get(`/api/admin/orders/export${query}`)
    expect(status, csv).toBe(200)
    return rowsOf(csv)
  }
  return { ...shop, tea, orders, file }
}

test('exported order lines have SKUs, and their totals add up to the totals of the orders', async () => {
  const { orders, file, tea } = await useTaxedOrders()
  const rows = await file('?rows=lines')
  expect(rows.map(({ kind }) => kind)).toEqual(['item', 'shipping', 'item', 'item', 'shipping'])
  for (const { id, total, tax_total } of orders) {
    const own = rows.filter(({ order_id }) => order_id === id)
    expect([sum(own, 'total'), sum(own, 'tax')]).toEqual([total, tax_total])
  }
  expect(rows[0]).toMatchObject({ sku: 'TEA-1', variant_id: tea, quantity: '1', shipping_country: 'SE' })
  expect(rows[1]).toMatchObject({ name: 'Standard', sku: '', subtotal: '490' })
})

test('exported tax rows have one rate of an order each, and add up to its taxes', async () => {
  const { orders, file } = await useTaxedOrders()
  const rows = await file('?rows=taxes')
  for (const { id, tax_total } of orders) {
    const own = rows.filter(({ order_id }) => order_id === id)
    expect(sum(own, 'tax')).toBe(tax_total)
    expect(sum(own, 'gross')).toBe(sum(own, 'net') + sum(own, 'tax'))
  }
  const rates = rows.map(({ tax_category, rate_percent }) => [tax_category, rate_percent])
  expect(rates).toContainEqual(['food', '12.5'])
  expect(rates).toContainEqual(['standard', '25'])
})

test('the order export keeps its columns in order, followed by both addresses', async () => {
  const { orders, file, admin } = await useTaxedOrders()
  const { text: csv } = await admin.get('/api/admin/orders/export')
  expect(csv).toMatch(
    /^number,status,payment_status,fulfillment_status,email,market,currency,subtotal,discount_total,shipping_total,tax_total,total,placed_at,created_at,id,shipping_name,/
  )
  const rows = await file()
  expect(await file('?rows=orders')).toEqual(rows)
  expect(rows.map(({ id }) => id)).toEqual(orders.map(({ id }) => id).toReversed())
  expect(rows[0]).toMatchObject({
    shipping_company: 'Ada & Co',
    billing_name: 'Lovelace AB',
    billing_city: 'Stockholm'
  })
})

test('an exported order without addresses has empty cells', async () => {
  const { orders, file, sql } = await useTaxedOrders()
  await sql('update orders.orders set shipping_address = null, billing_address = null where id = $1', [
    orders[1].id
  ])
  expect((await file())[0]).toMatchObject({ id: orders[1].id, shipping_name: '', billing_country: '' })
  expect((await file('?rows=taxes'))[0]).toMatchObject({
    order_id: orders[1].id,
    shipping_country: '',
    vat_id: ''
  })
})

test('an order export of several pages has each order once, with one page in memory', async () => {
  const ids = Array.from({ length: 1_201 }, (_, index) => String(9_999 - index))
  const limits = new Set<number>()
  const rows = async (_statement: unknown, { after, limit }: { after: string; limit: number }) => {
    limits.add(limit)
    return ids
      .filter(id => after.includes('-') || id < after)
      .slice(0, limit)
      .map(id => ({ id, lines: [], groups: [], cash_rounding: 1, components: [], metadata: {}, tenders: [] }))
  }
  const db = { rows } as unknown as Database
  for (const [kind, column] of [
    ['orders', 'id'],
    ['lines', 'order_id']
  ] as const) {
    const file = rowsOf(await text(exportOrdersAsCsv(db, {} as OrderFilters, kind)))
    expect(file.map(row => row[column])).toEqual(ids)
  }
  expect(Math.max(...limits)).toBeLessThanOrEqual(500)
})

test('a page of exported orders without taxes counts as progress, although it sends no row', async () => {
  const ids = ['3', '2', '1']
  const rows = async (_statement: unknown, { after }: { after: string }) =>
    ids
      .filter(id => after.includes('-') || id < after)
      .slice(0, 1)
      .map(id => ({ id, lines: [], groups: [], components: [] }))
  let pages = 0
  const onPage = () => {
    pages += 1
  }
  const db = { rows } as unknown as Database
  const file = await text(exportOrdersAsCsv(db, {} as OrderFilters, 'taxes', onPage))
  expect(file.split('\r\n')).toHaveLength(2)
  expect(pages).toBe(3)
})
