import { always, type Example, orEmpty, type Samples, samplesOf } from './samples.ts'

/** What is told when something happens. */
export const EVENT_TEMPLATES = [
  'welcome',
  'verify_email',
  'reset_password',
  'password_changed',
  'api_key_created',
  'second_factor_changed',
  'email_changed',
  'order_placed',
  'order_paid',
  'order_shipped',
  'order_delivered',
  'order_canceled',
  'order_evicted',
  'order_refunded',
  'guest_data',
  'low_stock',
  'unpaid_stock',
  'webhooks_off'
] as const
export type TemplateName = (typeof EVENT_TEMPLATES)[number]

type About = {
  /** What it tells. */
  readonly description: string
  /** What it needs beside `shop`, `recipient` and `locale`, as an example of it. */
  readonly example: Example
  /** Whoever gets it may not want it: it can be unsubscribed from. */
  readonly isOptional?: true
}

const order = {
  id: always('019b0000-0000-7000-8000-000000000001'),
  number: always('K7QD-X2MB'),
  currency: always('EUR'),
  terms: always('prepaid'),
  payment_status: always('paid'),
  subtotal: 5_980,
  discount_total: 500,
  shipping_total: 490,
  tax_added: 0,
  tax_total: 953,
  total: 5_970,
  lines: [
    { sku: always('MUG-1'), name: always('Mug'), variant_name: orEmpty('Green'), quantity: 2, total: 3_000 },
    {
      sku: always('BOWL-3'),
      name: always('Bowl & spoon'),
      variant_name: orEmpty(''),
      quantity: 1,
      total: 2_480
    }
  ],
  url: orEmpty('https://shop.example.com/orders/019b0000-0000-7000-8000-000000000001')
}
const shipment = {
  carrier: orEmpty('Post'),
  tracking_number: orEmpty('JJ00123'),
  lines: [{ sku: always('MUG-1'), name: always('Mug'), variant_name: orEmpty('Green'), quantity: 2 }]
}
const proof = {
  url: orEmpty('https://shop.example.com/verify-email#token=example'),
  token: always('example'),
  expires_at: always('2026-01-31T12:00:00.000Z')
}

/** Everything that templates know beside these. */
const COMMON_EXAMPLE = {
  shop: { url: orEmpty('https://shop.example.com') },
  recipient: { name: orEmpty('Ada Lovelace'), email: always('ada@example.com') },
  unsubscribe_url: orEmpty('https://shop.example.com/api/notifications/unsubscribe#example')
}

export const catalogue: Readonly<Record<TemplateName, About>> = {
  welcome: { description: 'An account was made.', example: {}, isOptional: true },
  verify_email: { description: 'An address is to be proved.', example: proof },
  reset_password: { description: 'Somebody has forgotten their password.', example: proof },
  password_changed: {
    description: 'A password was changed.',
    example: { at: always('2026-01-31T12:00:00.000Z') }
  },
  api_key_created: {
    description: 'An administrator made an API key.',
    example: { name: always('Warehouse'), at: always('2026-01-31T12:00:00.000Z') }
  },
  second_factor_changed: {
    description:
      'The second factor of an account was enrolled, removed or reset, or its recovery codes were used or replaced.',
    example: { change: always('removed'), at: always('2026-01-31T12:00:00.000Z') }
  },
  email_changed: {
    description: 'The address of an account was changed.',
    example: { at: always('2026-01-31T12:00:00.000Z') }
  },
  order_placed: { description: 'An order is looked after.', example: { order } },
  order_paid: { description: 'All that is due for an order was paid.', example: { order } },
  order_shipped: { description: 'Some of an order is on its way.', example: { order, shipment } },
  order_delivered: { description: 'Some of an order has arrived.', example: { order, shipment } },
  order_canceled: { description: 'An order is canceled.', example: { order } },
  order_evicted: {
    description: 'An order that is not paid lost units to a buyer who paid.',
    example: { order, outcome: always('reduced') }
  },
  order_refunded: { description: 'Money went back to whoever had paid.', example: { order, amount: 500 } },
  guest_data: {
    description: 'A guest has requested their data or its erasure.',
    example: { ...proof, action: always('erase') }
  },
  low_stock: {
    description: 'Something runs low, or out; for those who look after the shop.',
    example: {
      status: always('low'),
      available: 3,
      variants: [{ sku: always('MUG-1'), name: always('Mug') }]
    }
  },
  unpaid_stock: {
    description: 'Unpaid orders reserve a large share of some variants; for staff.',
    example: {
      ...{ units: 4_007, orders: 8, buyers: 8, networks: 1, largest_network_units: 4_007 },
      variants: [{ sku: always('MUG-1'), name: always('Mug'), units: 90, percent: 94 }]
    }
  },
  webhooks_off: {
    description: 'The shop has switched an endpoint of webhooks off; for those who look after the shop.',
    example: {
      endpoint: {
        id: always('019b0000-0000-7000-8000-000000000002'),
        host: always('erp.example.com'),
        description: orEmpty('ERP')
      },
      reason: always('failing'),
      failing_since: always('2026-01-26T12:00:00.000Z'),
      error: always('it answered 500'),
      answer: orEmpty('out of order')
    }
  }
}

/** What a template may name, in a shop of this name. */
export const samplesFor = (
  name: TemplateName,
  { shopName, locale }: { shopName: string; locale: string }
): Samples =>
  samplesOf({
    ...COMMON_EXAMPLE,
    ...catalogue[name].example,
    shop: { ...COMMON_EXAMPLE.shop, name: always(shopName) },
    locale: always(locale)
  })
