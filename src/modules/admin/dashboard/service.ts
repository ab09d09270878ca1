import type { TimeZoneDays } from '../../../kernel/days.ts'
import { createSingleFlight } from '../../../kernel/single-flight.ts'
import type { RequestDurationHistogram } from '../../../platform/metrics/durations.ts'
import type { Outbox } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { OrderStatistics } from '../../orders/index.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { DailyStatisticsService } from './daily-statistics.ts'
import { type DashboardPeriod, resolveDashboardPeriod } from './period.ts'
import type { DashboardQuery, DashboardResponse } from './schema.ts'
import {
  orderTotalsByCurrency,
  revenueByCurrency,
  sumNewCustomers,
  sumOrderCounts,
  sumSoldUnits
} from './sums.ts'

type Deps = {
  db: Database
  days: TimeZoneDays
  timeZone: string
  dailyStatistics: Pick<DailyStatisticsService, 'statisticsOf'>
  deliveries: Pick<Outbox['console'], 'countDead'>
  durations: Pick<RequestDurationHistogram, 'recent'>
  payments: Pick<PaymentsApi, 'countQuarantinedEvents'> | undefined
  inventory: Pick<InventoryApi, 'lowStock'> | undefined
}

const CACHE_MS = 5_000
const CACHED_PERIODS_MAX = 20
const LOW_STOCK_MAX = 10
const TOP_PRODUCTS_MAX = 10

/** Statistics of the shop over a period. Responses are cached for five seconds, and concurrent requests share one read. */
export function createDashboardService(deps: Deps) {
  const { db, days, timeZone, dailyStatistics, deliveries, durations, payments, inventory } = deps
  const readOnce = createSingleFlight<DashboardResponse>()
  const cache = new Map<string, { response: DashboardResponse; at: number }>()

  const salesOf = ({ days, units }: Pick<OrderStatistics, 'days' | 'units'>) => ({
    ...sumOrderCounts(days),
    units: sumSoldUnits(units),
    totals: orderTotalsByCurrency(days)
  })

  async function read(period: DashboardPeriod): Promise<DashboardResponse> {
    const [{ customers, orders, money }, quarantined, lowStock, dead] = await Promise.all([
      dailyStatistics.statisticsOf(period),
      payments?.countQuarantinedEvents(db),
      inventory?.lowStock(LOW_STOCK_MAX),
      deliveries.countDead(null)
    ])
    return {
      from: period.days[0] ?? '',
      to: period.days.at(-1) ?? '',
      time_zone: timeZone,
      orders: orders
        ? { ...salesOf(orders), top_products: orders.products.slice(0, TOP_PRODUCTS_MAX) }
        : null,
      revenue: money ? revenueByCurrency(money) : null,
      new_customers: customers ? sumNewCustomers(customers) : null,
      low_stock: lowStock ? { total: lowStock.total ?? 0, items: lowStock.items } : null,
      trouble: { dead_events: dead, quarantined_payments: quarantined ?? null },
      latency: durations.recent(),
      days: period.days.map((day, index) => ({
        day,
        orders: orders
          ? salesOf({
              days: orders.days.filter(each => each.day === index + 1),
              units: orders.units.filter(each => each.day === index + 1)
            })
          : null,
        revenue: money ? revenueByCurrency(money.filter(each => each.day === index + 1)) : null,
        new_customers: customers ? sumNewCustomers(customers.filter(each => each.day === index + 1)) : null
      }))
    }
  }

  return {
    /** @throws `ADMIN_PERIOD_INVALID` */
    read: async (query: DashboardQuery): Promise<DashboardResponse> => {
      const period = resolveDashboardPeriod(days, query, Date.now())
      const key = `${period.days[0]} ${period.days.at(-1)}`
      const cached = cache.get(key)
      if (cached !== undefined && performance.now() - cached.at < CACHE_MS) return cached.response
      return readOnce(key, async () => {
        const response = await read(period)
        if (cache.size >= CACHED_PERIODS_MAX) cache.clear()
        cache.set(key, { response, at: performance.now() })
        return response
      })
    }
  }
}
export type DashboardService = ReturnType<typeof createDashboardService>
