import { type Static, Type } from '../../../kernel/schema.ts'
import { amount, Currency, Day, Id, input, nullable, response } from '../../../kernel/wire.ts'

export const DashboardQuery = input({
  from: Type.Optional({
    ...Day,
    description: 'The first day, in shop.time_zone; else 29 days before the last.'
  }),
  to: Type.Optional({ ...Day, description: 'The last day, 366 with the first one at most; else today.' })
})
export type DashboardQuery = Static<typeof DashboardQuery>

const counts = {
  made: Type.Integer({ description: 'Made in that time.' }),
  placed: Type.Integer({ description: 'Of these, those that were to be looked after, canceled or not.' }),
  canceled: Type.Integer({ description: 'Of these, those that are canceled by now, paid before or not.' })
}
const OrderTotalResponse = response('OrderTotalResponse', {
  currency: Currency,
  orders: Type.Integer({ description: 'Placed, and not canceled.' }),
  total: amount(
    'What they come to (gross sales): tax and deliveries included, canceled lines not; returns and refunds are not taken off, which `revenue` does'
  ),
  average: amount('What one of them comes to, rounded')
})
const TopProductResponse = response('TopProductResponse', {
  product_id: Id,
  name: Type.String(),
  units: Type.Integer()
})
const sold = {
  ...counts,
  units: Type.Integer({
    description: 'Ordered and not canceled, in orders that are not; those that came back count.'
  }),
  totals: Type.Array(OrderTotalResponse)
}
const OrderFiguresResponse = response('OrderFiguresResponse', {
  ...sold,
  top_products: Type.Array(TopProductResponse, { description: 'The ten with most units.' })
})
const RevenueResponse = response('RevenueResponse', {
  currency: Currency,
  captured: amount('Taken'),
  refunded: amount('Given back'),
  net: amount('What is left')
})
const LowStockItemResponse = response('LowStockItemResponse', {
  id: { ...Id, description: 'Of the variant.' },
  sku: nullable(Type.String()),
  available: Type.Integer(),
  low_threshold: Type.Integer()
})
const LowStockFiguresResponse = response('LowStockFiguresResponse', {
  total: Type.Integer(),
  items: Type.Array(LowStockItemResponse, { description: 'Ten of them.' })
})
const TroubleResponse = response('TroubleResponse', {
  dead_events: Type.Integer(),
  quarantined_payments: nullable(Type.Integer())
})
const LatencyResponse = response('LatencyResponse', {
  requests: Type.Integer(),
  p50_ms: nullable(Type.Number()),
  p99_ms: nullable(Type.Number())
})
const DashboardDayResponse = response('DashboardDayResponse', {
  day: Day,
  orders: nullable(Type.Object(sold)),
  revenue: nullable(Type.Array(RevenueResponse)),
  new_customers: nullable(Type.Integer())
})
const NULL = 'null while the module is switched off'
export const DashboardResponse = response('DashboardResponse', {
  from: Day,
  to: Day,
  time_zone: Type.String(),
  orders: nullable({ ...OrderFiguresResponse, description: `By when they were made; ${NULL}.` }),
  revenue: nullable(
    Type.Array(RevenueResponse, { description: `By when the shop learned of it, by currency; ${NULL}.` })
  ),
  new_customers: nullable(Type.Integer({ description: `Accounts that were made; ${NULL}.` })),
  low_stock: nullable({ ...LowStockFiguresResponse, description: `Now; ${NULL}.` }),
  trouble: TroubleResponse,
  latency: {
    ...LatencyResponse,
    description: 'Of what is under /api: the last five minutes or so, of the process that answers.'
  },
  days: Type.Array(DashboardDayResponse)
})
export type DashboardResponse = Static<typeof DashboardResponse>
