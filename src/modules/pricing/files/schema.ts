import { Type } from '../../../kernel/schema.ts'
import { response } from '../../../kernel/wire.ts'

/** The answer to a file that was imported. */
export const PricingImportResponse = response('PricingImportResponse', {
  rows: Type.Integer({ description: 'How many rows it had, without the header.' })
})
/** A file in an answer: a schema of its text is all that the document can say of it. */
export const csvAnswer = (description: string) => ({
  200: { description, content: { 'text/csv': { schema: Type.String() } } }
})
