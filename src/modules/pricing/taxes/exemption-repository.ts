import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import { TAX_EXEMPTIONS_MAX } from './exemption-schema.ts'

const changeable = {
  company: 'text',
  vat_id: 'text?',
  reason: 'text',
  countries: 'text[]?',
  starts_at: 'timestamptz?',
  ends_at: 'timestamptz?'
} as const
const written = { id: 'uuid', customer_id: 'uuid', ...changeable } as const
const columns = { ...written, version: 'int4', created_at: 'timestamptz' } as const
const names = Object.keys(columns).join(', ')

/** Pages through exemptions, newest first. `customer_id`: null for all. */
export const listTaxExemptions = statement({
  name: 'pricing.list_tax_exemptions',
  takes: { customer_id: 'uuid?', after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from pricing.exemptions
    where id < $after and ($customer_id::uuid is null or customer_id = $customer_id)
    order by id desc limit $limit`
})
export const countTaxExemptions = statement({
  name: 'pricing.count_tax_exemptions',
  takes: { customer_id: 'uuid?' },
  gives: { total: 'int4' },
  text: countUpTo(
    'pricing.exemptions where $customer_id::uuid is null or customer_id = $customer_id',
    TAX_EXEMPTIONS_MAX
  )
})
export const findTaxExemption = statement({
  name: 'pricing.find_tax_exemption',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from pricing.exemptions where id = $id`
})
export const lockTaxExemption = statement({
  name: 'pricing.lock_tax_exemption',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from pricing.exemptions where id = $id for update`
})
export const insertTaxExemption = statement({
  name: 'pricing.insert_tax_exemption',
  takes: written,
  text: `
    insert into pricing.exemptions (id, customer_id, company, vat_id, reason, countries, starts_at, ends_at)
    values ($id, $customer_id, $company, $vat_id, $reason, $countries, $starts_at, $ends_at)`
})
export const updateTaxExemption = statement({
  name: 'pricing.update_tax_exemption',
  takes: { id: 'uuid', ...changeable },
  text: `
    update pricing.exemptions set
      company = $company, vat_id = $vat_id, reason = $reason, countries = $countries,
      starts_at = $starts_at, ends_at = $ends_at, version = version + 1
    where id = $id`
})
export const deleteTaxExemption = statement({
  name: 'pricing.delete_tax_exemption',
  takes: { id: 'uuid' },
  text: 'delete from pricing.exemptions where id = $id'
})
/** Lists tax exemptions that have not ended, oldest first. */
export const listAllUnexpiredTaxExemptions = statement({
  name: 'pricing.list_holding_tax_exemptions',
  takes: { limit: 'int8' },
  gives: { id: 'uuid', customer_id: 'uuid', ...changeable },
  text: `
    select id, customer_id, company, vat_id, reason, countries, starts_at, ends_at from pricing.exemptions
    where ends_at is null or ends_at > now() order by id limit $limit`
})
