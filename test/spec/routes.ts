import { readFileSync } from 'node:fs'

/** A row of the endpoint tables of the specification, which lies beside this file as it was given. */
export type Row = {
  tier: 'public' | 'secured' | 'diagnostics'
  method: string
  path: string
  module: string
  /** A body that the route can understand. */
  body?: Record<string, unknown>
}

const specification = readFileSync(new URL('./specification.md', import.meta.url), 'utf8')

/** The rows of the table below a heading, each as its cells, code without its quotes. */
function tableBelow(heading: string): string[][] {
  const [, section] = specification.split(`### ${heading}\n`)
  if (section === undefined) throw new Error(`the specification has no section "${heading}"`)
  const lines = section.split(/\n#/)[0]?.split('\n') ?? []
  const rows = lines.filter(line => line.startsWith('|')).slice(2)
  return rows.map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim().replaceAll('`', ''))
  )
}

const id = '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e'
const line = { variant_id: id, quantity: 1 }
const account = { email: 'a@example.com', password: 'nine lives and a piano' }
/** The specification leaves most bodies open; these reach what is behind the validation. */
const BODIES: Readonly<Record<string, Record<string, unknown>>> = {
  'POST /api/auth/register': account,
  'POST /api/auth/login': account,
  'POST /api/auth/refresh': { refresh_token: `rt_${'a'.repeat(43)}` },
  'POST /api/orders/guest': { email: 'ada@example.com', items: [line] },
  'POST /api/shipping/rates': { weight_grams: 500, value: 2_000, destination: { country: 'DE' } },
  'POST /api/cart': line,
  'PUT /api/cart/items/:variantId': { quantity: 1 },
  'POST /api/cart/merge': { items: [line] },
  'POST /api/orders': { items: [line] },
  'POST /api/payments/intent': { order_id: id },
  'POST /api/products/:id/reviews': { rating: 5 },
  'PUT /api/products/:id/reviews': { rating: 4 },
  'POST /api/notifications/send': { template: 'welcome' }
}

/** Whose routes these are; the specification names modules by their paths. */
function moduleOf(path: string): string {
  if (path.includes('/reviews')) return 'reviews'
  const [, , first = ''] = path.split('/')
  return ['products', 'categories'].includes(first) ? 'catalog' : first
}

const rowsBelow = (heading: string, tier: Row['tier']): Row[] =>
  tableBelow(heading).map(([method = '', path = '']) => {
    const body = BODIES[`${method} ${path}`]
    return {
      tier,
      method,
      path,
      module: tier === 'diagnostics' ? 'gateway' : moduleOf(path),
      ...(body && { body })
    }
  })

export const publicRows = rowsBelow('Public routes (no authentication)', 'public')
export const securedRows = rowsBelow('Secured routes (authentication required)', 'secured')
export const diagnosticRows = rowsBelow(
  'Diagnostic endpoints (outside `/api`, no authentication, no rate limiting)',
  'diagnostics'
)

export type AdminPattern = {
  /** Everything below this path. */
  below: string
  /** What of it needs the role: all operations, or those that change something. */
  scope: 'all' | 'write'
}
export const adminPatterns: AdminPattern[] = tableBelow(
  'Admin routes (authentication and admin role required)'
).map(([pattern = '', scope = '']) => ({
  below: pattern.replace(/\/\*$/, ''),
  scope: scope === 'all operations' ? 'all' : 'write'
}))

/** A path to ask for: the parameters filled in. */
export const urlOf = (path: string): string => path.replaceAll(/:\w+|\{\w+\}/g, id)
