import { createSamples, maybeEmpty, nonEmpty, type TemplateExample, type TemplateSamples } from './samples.ts'

/** Every template. An event sends each of them. */
export const TEMPLATE_NAMES = [
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
export type TemplateName = (typeof TEMPLATE_NAMES)[number]

type TemplateDefinition = {
  /** When the mail is sent. */
  readonly description: string
  /** Its variables besides the common ones. */
  readonly example: TemplateExample
  /** Recipients can unsubscribe from it. */
  readonly isOptional?: true
}

const order = {
  id: nonEmpty('019b0000-0000-7000-8000-000000000001'),
  number: nonEmpty('K7QD-X2MB'),
  currency: nonEmpty('EUR'),
  terms: nonEmpty('prepaid'),
  payment_status: nonEmpty('paid'),
  subtotal: 5_980,
  discount_total: 500,
  shipping_total: 490,
  tax_added: 0,
  tax_total: 953,
  total: 5_970,
  lines: [
    {
      sku: nonEmpty('MUG-1'),
      name: nonEmpty('Mug'),
      variant_name: maybeEmpty('Green'),
      quantity: 2,
      total: 3_000
    },
    {
      sku: nonEmpty('BOWL-3'),
      name: nonEmpty('Bowl & spoon'),
      variant_name: maybeEmpty(''),
      quantity: 1,
      total: 2_480
    }
  ],
  url: maybeEmpty('https://shop.example.com/orders/019b0000-0000-7000-8000-000000000001')
}
const shipment = {
  carrier: maybeEmpty('Post'),
  tracking_number: maybeEmpty('JJ00123'),
  lines: [{ sku: nonEmpty('MUG-1'), name: nonEmpty('Mug'), variant_name: maybeEmpty('Green'), quantity: 2 }]
}
const tokenLink = {
  url: maybeEmpty('https://shop.example.com/verify-email#token=example'),
  token: nonEmpty('example'),
  expires_at: nonEmpty('2026-01-31T12:00:00.000Z')
}

/** Variables of every template. */
const COMMON_EXAMPLE = {
  shop: { url: maybeEmpty('https://shop.example.com') },
  recipient: { name: maybeEmpty('Ada Lovelace'), email: nonEmpty('ada@example.com') },
  unsubscribe_url: maybeEmpty('https://shop.example.com/api/notifications/unsubscribe#example')
}

export const templateDefinitions: Readonly<Record<TemplateName, TemplateDefinition>> = {
  welcome: { description: 'A customer registered.', example: {}, isOptional: true },
  verify_email: { description: 'A customer must verify an e-mail address.', example: tokenLink },
  reset_password: { description: 'A password reset was requested for an account.', example: tokenLink },
  password_changed: {
    description: 'A password was changed.',
    example: { at: nonEmpty('2026-01-31T12:00:00.000Z') }
  },
  api_key_created: {
    description: 'An API key was created for an account.',
    example: { name: nonEmpty('Warehouse'), at: nonEmpty('2026-01-31T12:00:00.000Z') }
  },
  second_factor_changed: {
    description:
      'The second factor of an account was enrolled, removed or reset, or its recovery codes were used or replaced.',
    example: { change: nonEmpty('removed'), at: nonEmpty('2026-01-31T12:00:00.000Z') }
  },
  email_changed: {
    description: 'The e-mail address of an account was changed. Sent to the previous address.',
    example: { at: nonEmpty('2026-01-31T12:00:00.000Z') }
  },
  order_placed: { description: 'An order was placed.', example: { order } },
  order_paid: { description: 'An order was paid in full.', example: { order } },
  order_shipped: { description: 'A shipment of an order was sent.', example: { order, shipment } },
  order_delivered: { description: 'A shipment of an order was delivered.', example: { order, shipment } },
  order_canceled: { description: 'An order was canceled.', example: { order } },
  order_evicted: {
    description: 'An unpaid order lost units to a buyer who paid first.',
    example: { order, outcome: nonEmpty('reduced') }
  },
  order_refunded: { description: 'A payment of an order was refunded.', example: { order, amount: 500 } },
  guest_data: {
    description: 'A guest requested an export or the erasure of their data.',
    example: { ...tokenLink, action: nonEmpty('erase') }
  },
  low_stock: {
    description: 'Variants are low in stock or sold out. Sent to staff.',
    example: {
      status: nonEmpty('low'),
      available: 3,
      variants: [{ sku: nonEmpty('MUG-1'), name: nonEmpty('Mug') }]
    }
  },
  unpaid_stock: {
    description: 'Unpaid orders reserve a large share of some variants. Sent to staff.',
    example: {
      units: 4_007,
      orders: 8,
      buyers: 8,
      networks: 1,
      largest_network_units: 4_007,
      variants: [{ sku: nonEmpty('MUG-1'), name: nonEmpty('Mug'), units: 90, percent: 94 }]
    }
  },
  webhooks_off: {
    description: 'A webhook endpoint was disabled because of failures. Sent to staff.',
    example: {
      endpoint: {
        id: nonEmpty('019b0000-0000-7000-8000-000000000002'),
        host: nonEmpty('erp.example.com'),
        description: maybeEmpty('ERP')
      },
      reason: nonEmpty('failing'),
      failing_since: nonEmpty('2026-01-26T12:00:00.000Z'),
      error: nonEmpty('it answered 500'),
      answer: maybeEmpty('out of order')
    }
  }
}

/** Variables with which a template is checked and previewed. */
export const samplesFor = (
  name: TemplateName,
  { shopName, locale }: { shopName: string; locale: string }
): TemplateSamples =>
  createSamples({
    ...COMMON_EXAMPLE,
    ...templateDefinitions[name].example,
    shop: { ...COMMON_EXAMPLE.shop, name: nonEmpty(shopName) },
    locale: nonEmpty(locale)
  })
