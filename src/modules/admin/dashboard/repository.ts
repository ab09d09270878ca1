import { json, statement } from '../../../platform/postgres/statement.ts'
import type { Figures } from './figures.ts'

const scopeAndDays = { scope: 'text', first: 'text', last: 'text' } as const

export const findBeginning = statement({
  name: 'admin.find_beginning',
  gives: { at: 'timestamptz' },
  text: 'select at from admin.beginning'
})
export const listKept = statement({
  name: 'admin.list_kept_days',
  takes: scopeAndDays,
  gives: { day: 'text', figures: json<Figures>() },
  text: `
    select day, figures from admin.kept_days
    where scope = $scope and day between $first and $last`
})
export const listCounted = statement({
  name: 'admin.list_counted_days',
  takes: scopeAndDays,
  gives: { day: 'text', counted_at: 'timestamptz' },
  text: `
    select day, counted_at from admin.kept_days
    where scope = $scope and day between $first and $last`
})
export const keepDay = statement({
  name: 'admin.keep_day',
  takes: { scope: 'text', day: 'text', figures: json<Figures>(), countedAt: 'timestamptz' },
  text: `
    insert into admin.kept_days (scope, day, figures, counted_at) values ($scope, $day, $figures, $countedAt)
    on conflict (scope, day) do update set figures = excluded.figures, counted_at = excluded.counted_at`
})
export const deleteOtherScopes = statement({
  name: 'admin.delete_other_scopes',
  takes: { scope: 'text' },
  text: 'delete from admin.kept_days where scope <> $scope'
})
