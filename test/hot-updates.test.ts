import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestShop, type TestShop } from '../src/testing.ts'

/**
 * Columns that the updates of a purchase change. While no index depends on one of them, and the page has room, PostgreSQL writes
 * the new version of the row without a new entry in any index (HOT).
 */
const UPDATED: Readonly<Record<string, readonly string[]>> = {
  'orders.checkouts': [
    ...[
      'input',
      'shipping_option',
      'quote_hash',
      'cart_id',
      'cart_version',
      'status',
      'version',
      'updated_at',
      'expires_at'
    ]
  ],
  'cartwright.idempotency_keys': ['state', 'result_id', 'status', 'answer', 'lease', 'lease_until'],
  'payments.accounts': [
    ...['committed', 'authorized', 'captured', 'refunding', 'refunded', 'disputed', 'status', 'is_overpaid'],
    ...['is_disputed', 'frozen_at', 'due', 'updated_at']
  ],
  'inventory.reservations': ['state'],
  // When the first attempt sends the message.
  'notifications.messages': ['status', 'turn', 'attempts', 'error', 'settled_at'],
  'cart.carts': ['version', 'quantity', 'distinct_count', 'metadata', 'updated_at']
}

let shop: TestShop
beforeAll(async () => {
  shop = await openTestShop({ runsSchedulesAtStart: false })
})
afterAll(async () => shop.close())

test.each(Object.entries(UPDATED))('the updates of %s change no index', async (table, columns) => {
  const rows = await shop.sql(
    `select attname as column, string_agg(indexrelid::regclass::text, ', ') as indexes
     from pg_attribute left join pg_depend on classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass
         and refobjid = attrelid and refobjsubid = attnum
       left join pg_index on indexrelid = objid and indrelid = attrelid
     where attrelid = $1::regclass and attname = any ($2) group by attname`,
    [table, columns]
  )
  expect(Object.fromEntries(rows.map(({ column, indexes }) => [column, indexes]))).toEqual(
    Object.fromEntries(columns.map(column => [column, null]))
  )
})
