import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import type { Timers } from '../../../platform/timers.ts'
import { UNPAID_STOCK_LIMIT_SCOPES, type UnpaidStockLimitScope } from './limits.ts'
import * as repository from './repository.ts'

const READ_SECONDS = 60

type Deps = { db: Queryable; timers: Timers; metrics: Metrics }
type Sums = RowOf<typeof repository.sumAllUnpaidUnits>

/**
 * Registers metrics of the stock that unpaid orders reserve. Returns a function that counts a rejected order.
 */
export function createUnpaidStockMetrics({
  db,
  timers,
  metrics
}: Deps): (scope: UnpaidStockLimitScope | 'contested') => void {
  let sums: Sums = { units: 0, orders: 0, buyers: 0, networks: 0, largest_network_units: 0 }
  const gauge = (name: keyof Sums, help: string) =>
    metrics.shopGauge(`unpaid_${name}`, help, () => sums[name])
  gauge('units', 'Units reserved by unpaid orders by bank transfer, cash on delivery or on account.')
  gauge('orders', 'Unpaid orders that reserve stock.')
  gauge('buyers', 'Customers and guest email addresses with unpaid orders that reserve stock.')
  gauge('networks', 'Networks with unpaid orders that reserve stock.')
  gauge('largest_network_units', 'Units reserved by the unpaid orders of the network with the most of them.')
  const refusals = metrics.counter('unpaid_stock_refusals', 'Orders refused by a limit of unpaid stock.', {
    scope: [...UNPAID_STOCK_LIMIT_SCOPES, 'contested']
  })
  timers.every(READ_SECONDS, 'orders.read_unpaid_units', async () => {
    sums = (await db.first(repository.sumAllUnpaidUnits)) ?? sums
    return 0
  })
  return scope => refusals.add({ scope })
}
