/**
 * The most that a request may read, in buffers of PostgreSQL (8 KiB each), with any number of products and orders. Holds
 * without a query and with each of `queries`. A route that has to read more says why it has no budget.
 */
export type Budget =
  | { readonly buffers: number; readonly queries: readonly string[] }
  | { readonly unbounded: string }

const budget = (buffers: number, ...queries: string[]): Budget => ({ buffers, queries })
const counted = (...queries: string[]) => [...queries, ...queries.map(query => `${query}&count=true`)]
const listing = (buffers: number, ...queries: string[]) =>
  budget(buffers, 'count=true', 'limit=100', ...counted(...queries))
const UNKNOWN = '0199aaaa-0000-7000-8000-000000000000'
/** Texts of which nothing has one, of each kind that is searched for otherwise. */
const NOT_FOUND = ['q=%25_%5C', 'q=qq', 'q=q', 'q=nowhere', 'q=q%20q']
/** Statuses that no order has together, and periods in which there is none. */
const CONTRADICTIONS = [
  'status=completed&payment_status=unpaid',
  'status=completed&fulfillment_status=none',
  'payment_status=refunded&fulfillment_status=fulfilled',
  'status=pending&payment_status=paid&fulfillment_status=fulfilled',
  'from=2090-01-01T00:00:00Z',
  'to=1990-01-01T00:00:00Z',
  'from=2024-01-02T00:00:00Z&to=2024-01-01T00:00:00Z'
]

/** Changes of all times, of a time in which many rows changed, and of none. */
const CHANGES = ['1970-01-01', '2024-01-01', '2090-01-01'].flatMap(day => [
  `updated_since=${day}T00:00:00Z`,
  `updated_since=${day}T00:00:00Z&limit=100`
])

const DAY_MS = 86_400_000
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
/** Periods of the dashboard, in days: the longest one, one that is over, and one of which most is to come. */
const PERIODS = [
  `from=${dayAgo(365)}&to=${dayAgo(0)}`,
  `from=${dayAgo(200)}&to=${dayAgo(100)}`,
  `from=${dayAgo(1)}&to=${dayAgo(-300)}`
]

const FILES = { unbounded: 'It streams every row, a page at a time.' }
const OF_ONE_PERSON = { unbounded: 'It has all that is kept of one person.' }
/** Rows that a shop has few of, whatever it sells: they are set up by hand. */
const SET_UP_BY_HAND = listing(100)
const BY_KEY = budget(100)

const each = (budget: Budget, ...routes: string[]) => Object.fromEntries(routes.map(route => [route, budget]))

/** Every GET route below `/api`. `{order}`, `{product}` and the like are filled in by the test. */
export const BUDGETS: Readonly<Record<string, Budget>> = {
  '/api/products': listing(
    2_500,
    ...NOT_FOUND,
    ...['q=thing', 'q=zebra', 'q=t', 'q=PRODUCT-77', 'tag=rare', 'tag=nowhere', 'sort=name', 'sort=price'],
    'sort=-price&min_price=20000&max_price=20100'
  ),
  '/api/catalog/products': listing(
    2_500,
    ...CHANGES,
    ...NOT_FOUND,
    ...['q=thing', 'q=zebra', 'q=PRODUCT-777', 'q=PRODUCT-77', 'status=archived', 'status=draft'],
    ...['common', 'rare', 'nowhere'].map(line => `metadata[line]=${line}`),
    'metadata[line]=rare&q=thing'
  ),
  '/api/admin/orders': listing(
    2_500,
    ...CHANGES,
    ...CONTRADICTIONS,
    ...[
      'status=canceled',
      'payment_status=paid',
      'email=unknown@example.com',
      'email=buyer-7@example.com',
      'number=N7',
      ...['app', 'stand', 'nowhere'].map(channel => `metadata[channel]=${channel}`),
      'metadata[channel]=stand&status=pending'
    ],
    `customer_id=${UNKNOWN}`
  ),
  '/api/admin/dashboard': budget(2_500, ...PERIODS),
  '/api/admin/users': listing(
    2_500,
    ...CHANGES,
    'q=customer-7',
    'q=unknown',
    'q=person',
    'role=admin',
    'disabled=true',
    'metadata[a]=nowhere'
  ),
  '/api/admin/payments': listing(
    1_500,
    ...CHANGES,
    'status=failed',
    'status=succeeded',
    'provider=nowhere',
    'provider=manual',
    `order_id=${UNKNOWN}`
  ),
  '/api/inventory/items': listing(2_500, 'sku=PRODUCT-7-1', 'sku=nowhere', 'tracked=true', 'tracked=false'),
  '/api/inventory/levels': listing(
    1_500,
    ...CHANGES,
    `variant_id=${UNKNOWN}`,
    'location=depot',
    'location=nowhere'
  ),
  '/api/inventory/movements': listing(
    1_500,
    'variant_id={variant}',
    'location=depot',
    'location=main',
    'location=nowhere'
  ),
  '/api/inventory/low-stock': listing(1_500),
  '/api/admin/shipping/shipments': listing(
    1_500,
    'status=returned',
    'carrier=nowhere',
    'metadata[a]=nowhere',
    `order_id=${UNKNOWN}`
  ),
  // Orders of the test that expire meanwhile send mails.
  '/api/admin/notifications': listing(1_500),
  '/api/products/{product}': budget(200),
  '/api/orders': listing(1_500),
  '/api/payments': listing(1_500),

  ...each(
    SET_UP_BY_HAND,
    ...['/api/auth/addresses', '/api/auth/sessions', '/api/auth/api-keys', '/api/auth/invitations'],
    ...[
      '/api/admin/markets',
      '/api/admin/price-lists',
      '/api/admin/taxes/categories',
      '/api/admin/taxes/zones'
    ],
    ...['/api/admin/taxes/rates', '/api/admin/taxes/exemptions', '/api/admin/promotions'],
    ...['/api/admin/promotions/{id}/codes', '/api/admin/promotions/{id}/redemptions'],
    ...['/api/admin/price-lists/{id}/prices', '/api/inventory/locations', '/api/catalog/discounts'],
    ...['/api/admin/shipping/zones', '/api/admin/shipping/methods', '/api/admin/shipping/rates'],
    ...['/api/admin/shipping/carriers', '/api/admin/webhooks/endpoints']
  ),
  // What the shop writes while it is used, on tables that the test leaves small.
  ...each(
    SET_UP_BY_HAND,
    ...['/api/inventory/reservations', '/api/admin/payments/events', '/api/admin/payments/operations'],
    ...['/api/products/{product}/reviews', '/api/catalog/reviews', '/api/notifications'],
    ...['/api/admin/notifications/suppressions', '/api/admin/webhooks/deliveries', '/api/admin/audit'],
    ...['/api/admin/events', '/api/admin/users/{id}/sessions', '/api/payments/guest/by-order/{order}'],
    '/api/payments/by-order/{order}'
  ),
  ...each(
    BY_KEY,
    ...[
      '/api/auth/me',
      '/api/auth/second-factor',
      '/api/auth/addresses/{id}',
      '/api/catalog/categories/{id}',
      '/.well-known/jwks.json',
      '/api/markets',
      '/api/admin/markets/{id}'
    ],
    ...['/api/admin/price-lists/{id}', '/api/admin/taxes/categories/{id}', '/api/admin/taxes/zones/{id}'],
    ...['/api/admin/taxes/rates/{id}', '/api/admin/taxes/exemptions/{id}', '/api/admin/promotions/{id}'],
    ...[
      '/api/inventory/availability?variant_ids={variant}',
      '/api/inventory/locations/{id}',
      '/api/inventory/items/{variant}'
    ],
    ...['/api/payments/methods', '/api/admin/payments/{id}'],
    ...['/api/categories/{id}', '/api/catalog/products/{product}'],
    ...[
      '/api/admin/shipping/zones/{id}',
      '/api/admin/shipping/methods/{id}',
      '/api/admin/shipping/rates/{id}'
    ],
    ...['/api/admin/shipping/carriers/{id}', '/api/admin/shipping/shipments/{shipment}'],
    ...[
      '/api/admin/shipping/shipments/{shipment}/packing-slip',
      '/api/admin/shipping/shipments/{shipment}/packing-slip.json',
      '/api/admin/shipping/shipments/{shipment}/label',
      '/api/admin/shipping/shipments/{shipment}/label/file'
    ],
    ...['/api/shipping/order/{order}', '/api/shipping/guest/order/{order}', '/api/shipping/track/{number}'],
    ...[
      '/api/cart',
      '/api/cart/count',
      '/api/guest-cart',
      '/api/guest-cart/count',
      '/api/countries/{country}'
    ],
    ...[
      '/api/checkouts/{id}',
      '/api/checkouts/guest/{id}',
      '/api/orders/{order}',
      '/api/orders/guest/{order}'
    ],
    ...[
      '/api/admin/orders/{order}',
      '/api/products/{product}/reviews/rating',
      '/api/products/{product}/reviews/mine'
    ],
    ...[
      '/api/catalog/reviews/{id}',
      '/api/notifications/unsubscribe?token=x',
      '/api/admin/notifications/templates'
    ],
    ...['/api/admin/notifications/templates/{name}/{locale}', '/api/admin/notifications/{id}'],
    ...['/api/admin/webhooks/endpoints/{id}', '/api/admin/webhooks/deliveries/{id}', '/api/admin/modules'],
    ...['/api/admin/config', '/api/admin/users/{id}', '/api/admin/maintenance', '/api/admin/events/summary']
  ),
  '/api/admin/events/feed': budget(60, 'after=25000', 'after=49990', 'after=25000&limit=500', 'after=50000'),
  ...each({ unbounded: 'It reads no table of a module.' }, '/healthz', '/readyz', '/metrics', '/metricsz'),
  '/api/categories': { unbounded: 'It shows the whole tree of categories, and is kept in memory.' },
  '/api/admin/shipping/packing-slips': { unbounded: 'It has all parcels of a day.' },
  '/api/inventory/check': { unbounded: 'It compares all books of the stock.' },
  '/api/admin/payments/reconciliation': {
    unbounded: 'It compares all payments of a period with the provider.'
  },
  '/api/auth/me/export': OF_ONE_PERSON,
  '/api/admin/users/{id}/export': OF_ONE_PERSON,
  ...each(
    FILES,
    ...[
      '/api/admin/taxes/rates.csv',
      '/api/admin/promotions/{id}/codes.csv',
      '/api/admin/price-lists/{id}/prices.csv'
    ],
    ...[
      '/api/inventory/export',
      '/api/catalog/export',
      '/api/admin/shipping/shipments/export',
      '/api/admin/orders/export'
    ]
  )
}

/** What a route is called in the document: names of path parameters are the test's. */
export const shapeOf = (route: string): string => (route.split('?')[0] ?? '').replace(/\{[^}]+\}/g, '{}')
