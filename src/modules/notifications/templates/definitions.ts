import {
  createMailTemplateSamples,
  type MailTemplateExample,
  type MailTemplateSamples,
  nonEmptyExampleText,
  possiblyEmptyExampleText
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
  /** When a mail of this template is sent, for administrators. */
  readonly description: string
  /** Its variables besides the common ones. */
  readonly example: MailTemplateExample
  /** Recipients can unsubscribe from it. */
  readonly isOptional?: true
}

const engraving = [{ key: nonEmptyExampleText('engraving'), value: nonEmptyExampleText('Ada') }]
const order = {
  id: nonEmptyExampleText('019b0000-0000-7000-8000-000000000001'),
  number: nonEmptyExampleText('K7QD-X2MB'),
  currency: nonEmptyExampleText('EUR'),
  terms: nonEmptyExampleText('prepaid'),
  payment_status: nonEmptyExampleText('paid'),
  subtotal: 5_980,
  discount_total: 500,
  shipping_total: 490,
  tax_added: 0,
  tax_total: 953,
  total: 5_970,
  tenders: [{ label: nonEmptyExampleText('Gift card •••• 7K2M'), amount: 2_500 }],
  due: 3_470,
  metadata: [{ key: nonEmptyExampleText('gift_note'), value: nonEmptyExampleText('Happy birthday') }],
  lines: [
    {
      sku: nonEmptyExampleText('MUG-1'),
      name: nonEmptyExampleText('Mug'),
      variant_name: possiblyEmptyExampleText('Green'),
      metadata: engraving,
      quantity: 2,
      total: 3_000
    },
    {
      sku: nonEmptyExampleText('BOWL-3'),
      name: nonEmptyExampleText('Bowl & spoon'),
      variant_name: possiblyEmptyExampleText(''),
      metadata: [],
      quantity: 1,
      total: 2_480
    }
  ],
  url: possiblyEmptyExampleText('https://shop.example.com/orders/019b0000-0000-7000-8000-000000000001')
}
const shipment = {
  carrier: possiblyEmptyExampleText('Post'),
  tracking_number: possiblyEmptyExampleText('JJ00123'),
  lines: [
    {
      sku: nonEmptyExampleText('MUG-1'),
      name: nonEmptyExampleText('Mug'),
      variant_name: possiblyEmptyExampleText('Green'),
      metadata: engraving,
      quantity: 2
    }
  ]
}
const tokenLink = {
  url: possiblyEmptyExampleText('https://shop.example.com/verify-email#token=example'),
  token: nonEmptyExampleText('example'),
  expires_at: nonEmptyExampleText('2026-01-31T12:00:00.000Z')
}

/** Variables of every template. */
const COMMON_EXAMPLE = {
  shop: { url: possiblyEmptyExampleText('https://shop.example.com') },
  recipient: {
    name: possiblyEmptyExampleText('Ada Lovelace'),
    email: nonEmptyExampleText('ada@example.com')
  },
  unsubscribe_url: possiblyEmptyExampleText('https://shop.example.com/api/notifications/unsubscribe#example')
}

export const mailTemplateDefinitions: Readonly<Record<MailTemplateName, TemplateDefinition>> = {
  welcome: { description: 'A customer registered.', example: {}, isOptional: true },
  verify_email: { description: 'A customer must verify an e-mail address.', example: tokenLink },
  reset_password: { description: 'A password reset was requested for an account.', example: tokenLink },
  password_changed: {
    description: 'A password was changed.',
    example: { at: nonEmptyExampleText('2026-01-31T12:00:00.000Z') }
  },
  api_key_created: {
    description: 'An API key was created for an account.',
    example: { name: nonEmptyExampleText('Warehouse'), at: nonEmptyExampleText('2026-01-31T12:00:00.000Z') }
  },
  second_factor_changed: {
    description:
      'The second factor of an account was enrolled, removed or reset, or its recovery codes were used or replaced.',
    example: { change: nonEmptyExampleText('removed'), at: nonEmptyExampleText('2026-01-31T12:00:00.000Z') }
  },
  email_changed: {
    description: 'The e-mail address of an account was changed. Sent to the previous address.',
    example: { at: nonEmptyExampleText('2026-01-31T12:00:00.000Z') }
  },
  order_placed: { description: 'An order was placed.', example: { order } },
  order_paid: { description: 'An order was paid in full.', example: { order } },
  order_shipped: { description: 'A shipment of an order was sent.', example: { order, shipment } },
  order_delivered: { description: 'A shipment of an order was delivered.', example: { order, shipment } },
  order_canceled: { description: 'An order was canceled.', example: { order } },
  order_evicted: {
    description: 'An unpaid order lost units to a buyer who paid first.',
    example: { order, outcome: nonEmptyExampleText('reduced') }
  },
  order_refunded: { description: 'A payment of an order was refunded.', example: { order, amount: 500 } },
  guest_data: {
    description: 'A guest requested an export or the erasure of their data.',
    example: { ...tokenLink, action: nonEmptyExampleText('erase') }
  },
  low_stock: {
    description: 'Variants are low in stock or sold out. Sent to staff.',
    example: {
      status: nonEmptyExampleText('low'),
      available: 3,
      variants: [{ sku: nonEmptyExampleText('MUG-1'), name: nonEmptyExampleText('Mug') }]
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
      variants: [
        { sku: nonEmptyExampleText('MUG-1'), name: nonEmptyExampleText('Mug'), units: 90, percent: 94 }
      ]
    }
  },
  webhooks_off: {
    description: 'A webhook endpoint was disabled because of failures. Sent to staff.',
    example: {
      endpoint: {
        id: nonEmptyExampleText('019b0000-0000-7000-8000-000000000002'),
        host: nonEmptyExampleText('erp.example.com'),
        description: possiblyEmptyExampleText('ERP')
      },
      reason: nonEmptyExampleText('failing'),
      failing_since: nonEmptyExampleText('2026-01-26T12:00:00.000Z'),
      error: nonEmptyExampleText('it answered 500'),
      answer: possiblyEmptyExampleText('out of order')
    }
  }
}

/** Variables with which a template is checked and previewed. */
export const mailTemplateSamplesFor = (
  name: MailTemplateName,
  { shopName, locale }: { shopName: string; locale: string }
): MailTemplateSamples =>
  createMailTemplateSamples({
    ...COMMON_EXAMPLE,
    ...mailTemplateDefinitions[name].example,
    shop: { ...COMMON_EXAMPLE.shop, name: nonEmptyExampleText(shopName) },
    locale: nonEmptyExampleText(locale)
  })
