import { nullableJson, statement } from '../../../platform/postgres/statement.ts'
import type { ComponentTax } from '../quote/input.ts'

const taxes = nullableJson<readonly ComponentTax[]>()

/** Finds an answer that has not expired. */
export const findTaxAnswer = statement({
  name: 'pricing.find_tax_answer',
  takes: { request: 'bytea' },
  gives: { taxes },
  text: 'select taxes from pricing.tax_answers where request = $request and expires_at > now()'
})
/** Stores an answer and returns it; or the one that another process has stored meanwhile. */
export const storeTaxAnswer = statement({
  name: 'pricing.store_tax_answer',
  takes: { request: 'bytea', taxes, seconds: 'float8' },
  gives: { taxes },
  text: `
    insert into pricing.tax_answers as stored (request, taxes, expires_at)
    values ($request, $taxes, now() + make_interval(secs => $seconds))
    on conflict (request) do update set
      taxes = case when stored.expires_at > now() then stored.taxes else excluded.taxes end,
      expires_at = case when stored.expires_at > now() then stored.expires_at else excluded.expires_at end
    returning taxes`
})
/** Deletes a batch of expired answers, and skips those that are locked. */
export const deleteExpiredTaxAnswers = statement({
  name: 'pricing.delete_expired_tax_answers',
  takes: { limit: 'int8' },
  text: `
    delete from pricing.tax_answers where request in (
      select request from pricing.tax_answers
      where expires_at <= now() order by expires_at limit $limit for update skip locked)`
})
