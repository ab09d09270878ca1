import {
  createTemplateSamples,
  neverEmptyExample,
  possiblyEmptyExample,
  type TemplateExample,
  type TemplateSamples
} from './samples.ts'

/** Every template. An event sends each of them. */
export const MAIL_TEMPLATE_NAMES = [
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
export type MailTemplateName = (typeof MAIL_TEMPLATE_NAMES)[number]

type TemplateDefinition = {
  /** When the mail is sent. */
  readonly description: string
  /** Its variables besides the common ones. */
  readonly example: TemplateExample
  /** Recipients can unsubscribe from it. */
  readonly isOptional?: true
}

const order = {
  id: neverEmptyExample('019b0000-0000-7000-8000-000000000001'),
  number: neverEmptyExample('K7QD-X2MB'),
  currency: neverEmptyExample('EUR'),
  terms: neverEmptyExample('prepaid'),
  payment_status: neverEmptyExample('paid'),
  subtotal: 5_980,
  discount_total: 500,
  shipping_total: 490,
  tax_added: 0,
  tax_total: 953,
  total: 5_970,
  metadata: [{ key: neverEmptyExample('gift_note'), value: neverEmptyExample('Happy birthday') }],
  lines: [
    {
      sku: neverEmptyExample('MUG-1'),
      name: neverEmptyExample('Mug'),
      variant_name: possiblyEmptyExample('Green'),
      quantity: 2,
      total: 3_000
    },
    {
      sku: neverEmptyExample('BOWL-3'),
      name: neverEmptyExample('Bowl & spoon'),
      variant_name: possiblyEmptyExample(''),
      quantity: 1,
      total: 2_480
    }
  ],
  url: possiblyEmptyExample('https://shop.example.com/orders/019b0000-0000-7000-8000-000000000001')
}
const shipment = {
  carrier: possiblyEmptyExample('Post'),
  tracking_number: possiblyEmptyExample('JJ00123'),
  lines: [
    {
      sku: neverEmptyExample('MUG-1'),
      name: neverEmptyExample('Mug'),
      variant_name: possiblyEmptyExample('Green'),
      quantity: 2
    }
  ]
}
const tokenLink = {
  url: possiblyEmptyExample('https://shop.example.com/verify-email#token=example'),
  token: neverEmptyExample('example'),
  expires_at: neverEmptyExample('2026-01-31T12:00:00.000Z')
}

/** Variables of every template. */
const COMMON_EXAMPLE = {
  shop: { url: possiblyEmptyExample('https://shop.example.com') },
  recipient: { name: possiblyEmptyExample('Ada Lovelace'), email: neverEmptyExample('ada@example.com') },
  unsubscribe_url: possiblyEmptyExample('https://shop.example.com/api/notifications/unsubscribe#example')
}

export const mailTemplateDefinitions: Readonly<Record<MailTemplateName, TemplateDefinition>> = {
  welcome: { description: 'A customer registered.', example: {}, isOptional: true },
  verify_email: { description: 'A customer must verify an e-mail address.', example: tokenLink },
  reset_password: { description: 'A password reset was requested for an account.', example: tokenLink },
  password_changed: {
    description: 'A password was changed.',
    example: { at: neverEmptyExample('2026-01-31T12:00:00.000Z') }
  },
  api_key_created: {
    description: 'An API key was created for an account.',
    example: { name: neverEmptyExample('Warehouse'), at: neverEmptyExample('2026-01-31T12:00:00.000Z') }
  },
  second_factor_changed: {
    description:
      'The second factor of an account was enrolled, removed or reset, or its recovery codes were used or replaced.',
    example: { change: neverEmptyExample('removed'), at: neverEmptyExample('2026-01-31T12:00:00.000Z') }
  },
  email_changed: {
    description: 'The e-mail address of an account was changed. Sent to the previous address.',
    example: { at: neverEmptyExample('2026-01-31T12:00:00.000Z') }
  },
  order_placed: { description: 'An order was placed.', example: { order } },
  order_paid: { description: 'An order was paid in full.', example: { order } },
  order_shipped: { description: 'A shipment of an order was sent.', example: { order, shipment } },
  order_delivered: { description: 'A shipment of an order was delivered.', example: { order, shipment } },
  order_canceled: { description: 'An order was canceled.', example: { order } },
  order_evicted: {
    description: 'An unpaid order lost units to a buyer who paid first.',
    example: { order, outcome: neverEmptyExample('reduced') }
  },
  order_refunded: { description: 'A payment of an order was refunded.', example: { order, amount: 500 } },
  guest_data: {
    description: 'A guest requested an export or the erasure of their data.',
    example: { ...tokenLink, action: neverEmptyExample('erase') }
  },
  low_stock: {
    description: 'Variants are low in stock or sold out. Sent to staff.',
    example: {
      status: neverEmptyExample('low'),
      available: 3,
      variants: [{ sku: neverEmptyExample('MUG-1'), name: neverEmptyExample('Mug') }]
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
      variants: [{ sku: neverEmptyExample('MUG-1'), name: neverEmptyExample('Mug'), units: 90, percent: 94 }]
    }
  },
  webhooks_off: {
    description: 'A webhook endpoint was disabled because of failures. Sent to staff.',
    example: {
      endpoint: {
        id: neverEmptyExample('019b0000-0000-7000-8000-000000000002'),
        host: neverEmptyExample('erp.example.com'),
        description: possiblyEmptyExample('ERP')
      },
      reason: neverEmptyExample('failing'),
      failing_since: neverEmptyExample('2026-01-26T12:00:00.000Z'),
      error: neverEmptyExample('it answered 500'),
      answer: possiblyEmptyExample('out of order')
    }
  }
}

/** Variables with which a template is checked and previewed. */
export const templateSamplesFor = (
  name: MailTemplateName,
  { shopName, locale }: { shopName: string; locale: string }
): TemplateSamples =>
  createTemplateSamples({
    ...COMMON_EXAMPLE,
    ...mailTemplateDefinitions[name].example,
    shop: { ...COMMON_EXAMPLE.shop, name: neverEmptyExample(shopName) },
    locale: neverEmptyExample(locale)
  })
