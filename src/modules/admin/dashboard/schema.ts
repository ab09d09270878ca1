import { type Static, Type } from '../../../kernel/schema.ts'
import { amount, Currency, Day, Id, input, nullable, response } from '../../../kernel/wire.ts'

export const DashboardQuery = input({
  from: Type.Optional({
    ...Day,
    description: 'First day, in the time zone of the shop. Default: 29 days before the last.'
  }),
  to: Type.Optional({
    ...Day,
    description: 'Last day, inclusive. At most 366 days in total. Default: today.'
  })
})
export type DashboardQuery = Static<typeof DashboardQuery>

const counts = {
  made: Type.Integer({ description: 'Orders created in this time.' }),
  placed: Type.Integer({ description: 'Of these, the orders that were placed, including canceled ones.' }),
  canceled: Type.Integer({ description: 'Of these, the orders that are canceled by now, paid or not.' })
}
const OrderTotalResponse = response('OrderTotalResponse', {
  currency: Currency,
  orders: Type.Integer({ description: 'Number of orders that are placed and not canceled.' }),
  total: amount(
    'Gross sales with tax and shipping, without canceled lines, before refunds (`revenue` deducts these)'
  ),
  average: amount('Average order total, rounded')
})
const TopProductResponse = response('TopProductResponse', {
  product_id: Id,
  name: Type.String(),
  units: Type.Integer()
})
const sold = {
  ...counts,
  units: Type.Integer({
    description: 'Units of orders and lines that are not canceled. Returned units count.'
  }),
  totals: Type.Array(OrderTotalResponse)
}
const OrderStatisticsResponse = response('OrderStatisticsResponse', {
  ...sold,
  top_products: Type.Array(TopProductResponse, { description: 'The ten products with the most units.' })
})
const RevenueResponse = response('RevenueResponse', {
  currency: Currency,
  captured: amount('Captured amount'),
  refunded: amount('Refunded amount'),
  net: amount('Captured minus refunded amount')
})
const LowStockItemResponse = response('LowStockItemResponse', {
  id: { ...Id, description: 'Id of the variant.' },
  sku: nullable(Type.String()),
  available: Type.Integer({ description: 'Units that can be bought.' }),
  low_threshold: Type.Integer({ description: 'At this number of units the stock counts as low.' })
})
const LowStockSummaryResponse = response('LowStockSummaryResponse', {
  total: Type.Integer({ description: 'Number of variants with low stock.' }),
  items: Type.Array(LowStockItemResponse, { description: 'Ten of them, latest first.' })
})
const TroubleResponse = response('TroubleResponse', {
  dead_events: Type.Integer({ description: 'Events and jobs that failed permanently.' }),
  quarantined_payments: nullable(
    Type.Integer({ description: 'Provider events that an administrator must resolve.' })
  )
})
const LatencyResponse = response('LatencyResponse', {
  requests: Type.Integer({ description: 'Number of requests that were measured.' }),
  p50_ms: nullable(Type.Number({ description: 'Median duration in milliseconds.' })),
  p99_ms: nullable(Type.Number({ description: '99th percentile of durations in milliseconds.' }))
})
const DashboardDayResponse = response('DashboardDayResponse', {
  day: Day,
  orders: nullable(Type.Object(sold)),
  revenue: nullable(Type.Array(RevenueResponse)),
  new_customers: nullable(Type.Integer())
})
const NULL = 'Null: the module is switched off.'
export const DashboardResponse = response('DashboardResponse', {
  from: Day,
  to: Day,
  time_zone: Type.String(),
  orders: nullable({ ...OrderStatisticsResponse, description: `By time of creation. ${NULL}` }),
  revenue: nullable(
    Type.Array(RevenueResponse, {
      description: `By currency, and by the time when the shop recorded it. ${NULL}`
    })
  ),
  new_customers: nullable(Type.Integer({ description: `Number of accounts created. ${NULL}` })),
  low_stock: nullable({ ...LowStockSummaryResponse, description: `Current state. ${NULL}` }),
  trouble: TroubleResponse,
  latency: {
    ...LatencyResponse,
    description: 'Requests below /api in about the last five minutes, of the process that responds.'
  },
  days: Type.Array(DashboardDayResponse)
})
export type DashboardResponse = Static<typeof DashboardResponse>
