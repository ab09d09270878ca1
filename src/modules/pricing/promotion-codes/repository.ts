import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'

const columns = {
  id: 'uuid',
  code: 'text',
  batch_id: 'uuid?',
  active: 'bool',
  uses_max: 'int4?',
  uses_left: 'int4?',
  created_at: 'timestamptz'
} as const
const select = `
  select codes.id, code, batch_id, active, uses_max, uses_max - taken as uses_left, created_at
  from pricing.codes join pricing.usage_limits on usage_limits.id = codes.id`

/** Pages through codes, newest first. `batch_id`: null for all. */
export const listPromotionCodes = statement({
  name: 'pricing.list_codes',
  takes: { promotion_id: 'uuid', batch_id: 'uuid?', after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    ${select}
    where promotion_id = $promotion_id and codes.id < $after and ($batch_id::uuid is null or batch_id = $batch_id)
    order by codes.id desc limit $limit`
})
export const countPromotionCodes = statement({
  name: 'pricing.count_codes',
  takes: { promotion_id: 'uuid', batch_id: 'uuid?' },
  gives: { total: 'int4' },
  text: countUpTo(`pricing.codes
    where promotion_id = $promotion_id and ($batch_id::uuid is null or batch_id = $batch_id)`)
})
export const findPromotionCode = statement({
  name: 'pricing.find_code',
  takes: { promotion_id: 'uuid', id: 'uuid' },
  gives: columns,
  text: `${select} where promotion_id = $promotion_id and codes.id = $id`
})
/** Locks a promotion code. Concurrent redemptions wait for this lock, or are already counted. */
export const lockPromotionCode = statement({
  name: 'pricing.lock_code',
  takes: { promotion_id: 'uuid', id: 'uuid' },
  gives: { active: 'bool' },
  text: 'select active from pricing.codes where promotion_id = $promotion_id and id = $id for update'
})
export const insertPromotionCode = statement({
  name: 'pricing.insert_code',
  takes: { id: 'uuid', promotion_id: 'uuid', code: 'text' },
  text: 'insert into pricing.codes (id, promotion_id, code) values ($id, $promotion_id, $code)'
})
/** Inserts codes that do not exist yet, with their usage limits. */
export const insertPromotionCodeBatch = statement({
  name: 'pricing.insert_codes',
  takes: { ids: 'uuid[]', codes: 'text[]', promotion_id: 'uuid', batch_id: 'uuid', uses_max: 'int4?' },
  gives: { id: 'uuid' },
  text: `
    with made as (
      insert into pricing.codes (id, promotion_id, code, batch_id)
      select id, $promotion_id, code, $batch_id from unnest($ids::uuid[], $codes::text[]) as drawn (id, code)
      order by code
      on conflict (code) do nothing returning id
    )
    insert into pricing.usage_limits (id, uses_max) select id, $uses_max from made returning id`
})
export const setPromotionCodeActive = statement({
  name: 'pricing.set_code_active',
  takes: { id: 'uuid', active: 'bool' },
  text: 'update pricing.codes set active = $active where id = $id'
})
/** Lists which of these codes are inactive, or have an inactive promotion. */
export const listInactiveAmongPromotionCodes = statement({
  name: 'pricing.list_stopped_codes',
  takes: { codes: 'text[]' },
  gives: { code: 'text', promotion_id: 'uuid', code_active: 'bool' },
  text: `
    select code, promotion_id, codes.active as code_active
    from pricing.codes join pricing.promotions on promotions.id = promotion_id
    where code = any ($codes) and not (codes.active and promotions.active)`
})
