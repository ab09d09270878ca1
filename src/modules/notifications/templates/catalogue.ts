/** What is told when something happens. */
export const EVENT_TEMPLATES = [
  'welcome',
  'verify_email',
  'reset_password',
  'password_changed',
  'email_changed',
  'order_placed',
  'order_paid',
  'order_shipped',
  'order_delivered',
  'order_canceled',
  'order_refunded',
  'low_stock',
  'webhooks_off'
] as const
export type TemplateName = (typeof EVENT_TEMPLATES)[number]

type About = {
  /** What it tells. */
  readonly description: string
  /** What it needs beside `shop`, `recipient` and `locale`, as an example of it. */
  readonly example: Readonly<Record<string, unknown>>
  /** Whoever gets it may not want it: it can be unsubscribed from. */
  readonly isOptional?: true
}

const order = {
  id: '019b0000-0000-7000-8000-000000000001',
  number: 'K7QD-X2MB',
  currency: 'EUR',
  subtotal: 5_980,
  discount_total: 500,
  shipping_total: 490,
  tax_added: 0,
  tax_total: 953,
  total: 5_970,
  lines: [
    { sku: 'MUG-1', name: 'Mug', variant_name: 'Green', quantity: 2, total: 3_000 },
    { sku: 'BOWL-3', name: 'Bowl & spoon', variant_name: '', quantity: 1, total: 2_480 }
  ],
  url: 'https://shop.example.com/orders/019b0000-0000-7000-8000-000000000001'
}
const shipment = {
  carrier: 'Post',
  tracking_number: 'JJ00123',
  lines: [{ sku: 'MUG-1', name: 'Mug', variant_name: 'Green', quantity: 2 }]
}
const proof = {
  url: 'https://shop.example.com/verify-email#token=example',
  token: 'example',
  expires_at: '2026-01-31T12:00:00.000Z'
}

/** Everything that templates know beside these. */
export const COMMON_EXAMPLE = {
  shop: { name: 'Cartwright', url: 'https://shop.example.com' },
  recipient: { name: 'Ada Lovelace', email: 'ada@example.com' },
  locale: 'en',
  unsubscribe_url: 'https://shop.example.com/api/notifications/unsubscribe#example'
}

export const catalogue: Readonly<Record<TemplateName, About>> = {
  welcome: { description: 'An account was made.', example: {}, isOptional: true },
  verify_email: { description: 'An address is to be proved.', example: proof },
  reset_password: { description: 'Somebody has forgotten their password.', example: proof },
  password_changed: {
    description: 'A password was changed.',
    example: { at: '2026-01-31T12:00:00.000Z' }
  },
  email_changed: {
    description: 'The address of an account was changed.',
    example: { at: '2026-01-31T12:00:00.000Z' }
  },
  order_placed: { description: 'An order is looked after.', example: { order } },
  order_paid: { description: 'All that is due for an order was paid.', example: { order } },
  order_shipped: { description: 'Some of an order is on its way.', example: { order, shipment } },
  order_delivered: { description: 'Some of an order has arrived.', example: { order, shipment } },
  order_canceled: { description: 'An order is canceled.', example: { order } },
  order_refunded: { description: 'Money went back to whoever had paid.', example: { order, amount: 500 } },
  low_stock: {
    description: 'Something runs low, or out; for those who look after the shop.',
    example: { status: 'low', available: 3, variants: [{ sku: 'MUG-1', name: 'Mug' }] }
  },
  webhooks_off: {
    description: 'The shop has switched an endpoint of webhooks off; for those who look after the shop.',
    example: {
      endpoint: { id: '019b0000-0000-7000-8000-000000000002', host: 'erp.example.com', description: 'ERP' },
      reason: 'failing',
      failing_since: '2026-01-26T12:00:00.000Z',
      error: 'it answered 500',
      answer: 'out of order'
    }
  }
}
