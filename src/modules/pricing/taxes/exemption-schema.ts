import { countryCodes } from '../../../kernel/countries.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  line,
  nullable,
  pageQuery,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'
import { DayOrTimestampSchema } from '../input-formats/periods.ts'

export const TAX_EXEMPTIONS_MAX = 20_000

const Countries = Type.Array(Type.Enum(countryCodes), {
  description: 'Countries of delivery where the exemption applies. Null: all.',
  minItems: 1,
  maxItems: countryCodes.length,
  uniqueItems: true
})
const fields = {
  company: line(255, 'Name of the exempt company, as printed on invoices.'),
  vat_id: Type.Optional(nullable(line(32, 'VAT id with its country prefix, such as DE136695976.'))),
  reason: line(255, 'Reason to print on invoices.'),
  countries: Type.Optional(nullable(Countries)),
  starts_at: Type.Optional(nullable(DayOrTimestampSchema)),
  ends_at: Type.Optional(nullable(DayOrTimestampSchema))
}
export const CreateTaxExemptionRequest = request('CreateTaxExemptionRequest', {
  customer_id: { ...Id, description: 'The customer who is exempt.' },
  ...fields
})
export type CreateTaxExemptionRequest = Static<typeof CreateTaxExemptionRequest>
/** The customer of a tax exemption cannot change. */
export const UpdateTaxExemptionRequest = patchRequest('UpdateTaxExemptionRequest', fields)
export type UpdateTaxExemptionRequest = Static<typeof UpdateTaxExemptionRequest>

export const TaxExemptionResponse = response('TaxExemptionResponse', {
  id: Id,
  customer_id: Id,
  company: Type.String(),
  vat_id: nullable(Type.String()),
  reason: Type.String(),
  countries: nullable(Type.Array(Type.String())),
  starts_at: nullable(Time),
  ends_at: nullable(Time),
  version: Version,
  created_at: Time
})
export type TaxExemptionResponse = Static<typeof TaxExemptionResponse>

export const TaxExemptionsQuery = input({ ...pageQuery, customer_id: Type.Optional(Id) })
export type TaxExemptionsQuery = Static<typeof TaxExemptionsQuery>
