/**
 * Every row of the endpoint tables of the specification "Gateway Routing, Diagnostics and Cart Module".
 * `later` marks what belongs to modules that do not exist yet.
 */
export type Row = {
  tier: 'public' | 'secured' | 'admin' | 'diagnostics'
  method: string
  path: string
  module: string
  since?: 'later'
  /** A body that the route can understand. */
  body?: Record<string, unknown>
}

const id = '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e'
const line = { variant_id: id, quantity: 1 }
const password = 'nine lives and a piano'
const later = 'later' as const

export const publicRows: Row[] = (
  [
    {
      method: 'POST',
      path: '/api/auth/register',
      module: 'auth',
      body: { email: 'a@example.com', password }
    },
    { method: 'POST', path: '/api/auth/login', module: 'auth', body: { email: 'a@example.com', password } },
    {
      method: 'POST',
      path: '/api/auth/refresh',
      module: 'auth',
      body: { refresh_token: `rt_${'a'.repeat(43)}` }
    },
    { method: 'GET', path: '/api/products', module: 'catalog' },
    { method: 'GET', path: '/api/products/:id', module: 'catalog' },
    { method: 'GET', path: '/api/categories', module: 'catalog' },
    { method: 'GET', path: '/api/categories/:id', module: 'catalog' },
    { method: 'GET', path: '/api/products/:id/reviews', module: 'reviews' },
    { method: 'GET', path: '/api/products/:id/reviews/rating', module: 'reviews' },
    {
      method: 'POST',
      path: '/api/orders/guest',
      module: 'orders',
      body: { email: 'ada@example.com', items: [line] }
    },
    {
      method: 'POST',
      path: '/api/shipping/rates',
      module: 'shipping',
      body: { weight_grams: 500, value: 2_000, destination: { country: 'DE' } }
    },
    { method: 'GET', path: '/api/shipping/track/:tracking_number', module: 'shipping' },
    { method: 'POST', path: '/api/payments/callback/:provider', module: 'payments' }
  ] as const
).map(row => ({ ...row, tier: 'public' }))

export const securedRows: Row[] = (
  [
    { method: 'GET', path: '/api/cart', module: 'cart' },
    { method: 'POST', path: '/api/cart', module: 'cart', body: line },
    { method: 'DELETE', path: '/api/cart', module: 'cart' },
    { method: 'GET', path: '/api/cart/count', module: 'cart' },
    { method: 'PUT', path: '/api/cart/items/:variantId', module: 'cart', body: { quantity: 1 } },
    { method: 'DELETE', path: '/api/cart/items/:variantId', module: 'cart' },
    { method: 'POST', path: '/api/cart/merge', module: 'cart', body: { items: [line] } },
    { method: 'GET', path: '/api/orders', module: 'orders' },
    { method: 'POST', path: '/api/orders', module: 'orders', body: { items: [line] } },
    { method: 'GET', path: '/api/orders/:id', module: 'orders' },
    { method: 'POST', path: '/api/orders/:id/cancel', module: 'orders' },
    { method: 'POST', path: '/api/payments/intent', module: 'payments', body: { order_id: id } },
    { method: 'GET', path: '/api/payments', module: 'payments' },
    { method: 'GET', path: '/api/payments/by-order/:orderID', module: 'payments' },
    { method: 'GET', path: '/api/shipping/order/:order_id', module: 'shipping' },
    { method: 'POST', path: '/api/products/:id/reviews', module: 'reviews', body: { rating: 5 } },
    { method: 'PUT', path: '/api/products/:id/reviews', module: 'reviews', body: { rating: 4 } },
    { method: 'DELETE', path: '/api/products/:id/reviews', module: 'reviews' },
    { method: 'POST', path: '/api/notifications/send', module: 'notifications', since: later }
  ] as const
).map(row => ({ ...row, tier: 'secured' }))

export const diagnosticRows: Row[] = ['/healthz', '/readyz', '/metrics', '/metricsz'].map(path => ({
  tier: 'diagnostics',
  method: 'GET',
  path,
  module: 'gateway'
}))

export type AdminPattern = {
  /** Everything below this path. */
  below: string
  /** What of it needs the role: all operations, or those that change something. */
  scope: 'all' | 'write'
  since?: 'later'
}
export const adminPatterns: AdminPattern[] = [
  { below: '/api/admin', scope: 'all' },
  { below: '/api/inventory', scope: 'write' },
  { below: '/api/catalog', scope: 'write' }
]

/** A path to ask for: the parameters filled in. */
export const urlOf = (path: string): string => path.replaceAll(/:\w+|\{\w+\}/g, id)
