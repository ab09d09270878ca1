import { json, statement } from '../../../platform/postgres/statement.ts'
import type { DashboardStatistics } from './statistics.ts'

const scopeAndDays = { scope: 'text', first: 'text', last: 'text' } as const

export const findShopInstallTime = statement({
  name: 'admin.find_beginning',
  gives: { at: 'timestamptz' },
  text: 'select at from admin.beginning'
})
export const listDailyDashboardStatistics = statement({
  name: 'admin.list_daily_statistics',
  takes: scopeAndDays,
  gives: { day: 'text', statistics: json<DashboardStatistics>() },
  text: `
    select day, statistics from admin.daily_statistics
    where scope = $scope and day between $first and $last`
})
export const listStoredStatisticsDays = statement({
  name: 'admin.list_stored_days',
  takes: scopeAndDays,
  gives: { day: 'text', computed_at: 'timestamptz' },
  text: `
    select day, computed_at from admin.daily_statistics
    where scope = $scope and day between $first and $last`
})
export const upsertDailyDashboardStatistics = statement({
  name: 'admin.upsert_day',
  takes: { scope: 'text', day: 'text', statistics: json<DashboardStatistics>(), computedAt: 'timestamptz' },
  text: `
    insert into admin.daily_statistics (scope, day, statistics, computed_at)
    values ($scope, $day, $statistics, $computedAt)
    on conflict (scope, day) do update set statistics = excluded.statistics, computed_at = excluded.computed_at`
})
export const deleteDailyStatisticsOfOtherScopes = statement({
  name: 'admin.delete_other_scopes',
  takes: { scope: 'text' },
  text: 'delete from admin.daily_statistics where scope <> $scope'
})
