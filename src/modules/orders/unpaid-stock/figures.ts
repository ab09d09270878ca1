import type { Chores } from '../../../platform/chores.ts'
import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import { SCOPES, type Scope } from './limits.ts'
import * as repository from './repository.ts'

const READ_SECONDS = 60

type Deps = { db: Queryable; chores: Chores; metrics: Metrics }
type Sums = RowOf<typeof repository.sumAll>

/** Metrics of the stock that unpaid orders reserve. Returns what counts a refusal. */
export function createUnpaidFigures({ db, chores, metrics }: Deps): (scope: Scope | 'contested') => void {
  let sums: Sums = { units: 0, orders: 0, buyers: 0, networks: 0, largest_network_units: 0 }
  const gauge = (name: keyof Sums, help: string) => metrics.gauge(`unpaid_${name}`, help, () => sums[name])
  gauge('units', 'Units reserved by orders paid by transfer, on delivery or on account that are not paid.')
  gauge('orders', 'Orders that reserve these units.')
  gauge('buyers', 'Customers and e-mail addresses that these orders are of.')
  gauge('networks', 'Networks that these orders came from.')
  gauge('largest_network_units', 'Units reserved by the unpaid orders of the network with the most of them.')
  const refusals = metrics.counter('unpaid_stock_refusals', 'Orders refused by a limit of unpaid stock.', {
    scope: [...SCOPES, 'contested']
  })
  chores.every(READ_SECONDS, 'orders.read_unpaid_units', async () => {
    sums = (await db.first(repository.sumAll)) ?? sums
    return 0
  })
  return scope => refusals.add({ scope })
}
