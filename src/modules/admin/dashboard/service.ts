import type { Days } from '../../../kernel/days.ts'
import { singleFlight } from '../../../kernel/single-flight.ts'
import type { Durations } from '../../../platform/metrics/durations.ts'
import type { Outbox } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { OrderFigures } from '../../orders/index.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { KeptDays } from './kept-days.ts'
import { type Period, periodOf } from './period.ts'
import type { DashboardQuery, DashboardResponse } from './schema.ts'
import { countsOf, newOf, revenueOf, totalsOf, unitsOf } from './sums.ts'

type Deps = {
  db: Database
  days: Days
  timeZone: string
  keptDays: Pick<KeptDays, 'figuresOf'>
  deliveries: Pick<Outbox['console'], 'countDead'>
  durations: Pick<Durations, 'recent'>
  payments: Pick<PaymentsApi, 'quarantined'> | undefined
  inventory: Pick<InventoryApi, 'lowStock'> | undefined
}

const KEPT_MS = 5_000
/** So many periods are kept; whoever looks at more pays for it. */
const KEPT_MAX = 20
const LOW_MAX = 10
const TOP_MAX = 10

/** Figures of the shop over some days. Whoever asks within a few seconds of somebody else gets the same. */
export function createDashboard(deps: Deps) {
  const { db, days, timeZone, keptDays, deliveries, durations, payments, inventory } = deps
  const readOnce = singleFlight<DashboardResponse>()
  const kept = new Map<string, { figures: DashboardResponse; at: number }>()

  const soldOf = ({ days, units }: Pick<OrderFigures, 'days' | 'units'>) => ({
    ...countsOf(days),
    units: unitsOf(units),
    totals: totalsOf(days)
  })

  async function read(period: Period): Promise<DashboardResponse> {
    const [{ customers: came, orders: ordered, money }, quarantined, low, dead] = await Promise.all([
      keptDays.figuresOf(period),
      payments?.quarantined(db),
      inventory?.lowStock(LOW_MAX),
      deliveries.countDead(null)
    ])
    return {
      from: period.days[0] ?? '',
      to: period.days.at(-1) ?? '',
      time_zone: timeZone,
      orders: ordered ? { ...soldOf(ordered), top_products: ordered.products.slice(0, TOP_MAX) } : null,
      revenue: money ? revenueOf(money) : null,
      new_customers: came ? newOf(came) : null,
      low_stock: low ? { total: low.total ?? 0, items: low.items } : null,
      trouble: { dead_events: dead, quarantined_payments: quarantined ?? null },
      latency: durations.recent(),
      days: period.days.map((day, index) => ({
        day,
        orders: ordered
          ? soldOf({
              days: ordered.days.filter(each => each.day === index + 1),
              units: ordered.units.filter(each => each.day === index + 1)
            })
          : null,
        revenue: money ? revenueOf(money.filter(each => each.day === index + 1)) : null,
        new_customers: came ? newOf(came.filter(each => each.day === index + 1)) : null
      }))
    }
  }

  return {
    /** @throws `ADMIN_PERIOD_INVALID` */
    read: async (asked: DashboardQuery): Promise<DashboardResponse> => {
      const period = periodOf(days, asked, Date.now())
      const key = `${period.days[0]} ${period.days.at(-1)}`
      const known = kept.get(key)
      if (known !== undefined && performance.now() - known.at < KEPT_MS) return known.figures
      return readOnce(key, async () => {
        const figures = await read(period)
        if (kept.size >= KEPT_MAX) kept.clear()
        kept.set(key, { figures, at: performance.now() })
        return figures
      })
    }
  }
}
export type Dashboard = ReturnType<typeof createDashboard>
