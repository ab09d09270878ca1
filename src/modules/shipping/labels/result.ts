import { compileSchema } from '../../../kernel/compile-schema.ts'
import { fieldFaults } from '../../../kernel/faults.ts'
import { Type } from '../../../kernel/schema.ts'
import { input, line } from '../../../kernel/wire.ts'
import { LABEL_MEDIA_TYPES, type LabelResult } from './port.ts'

const DOCUMENT_BYTES_MAX = 5_242_880

const errorsOf = compileSchema(
  Type.Union([
    input({
      kind: Type.Enum(['label']),
      carrier: line(100),
      trackingNumber: line(100),
      mediaType: Type.Enum(LABEL_MEDIA_TYPES)
    }),
    input({ kind: Type.Enum(['refused']), reason: line(1_000) })
  ])
)

/** Returns why the result of a label provider is invalid, as a sentence; `undefined` when it is valid. */
export function findLabelResultFault(result: LabelResult): string | undefined {
  const { document, ...fields } = { document: undefined, ...result }
  const [fault] = fieldFaults('label', errorsOf(fields))
  if (fault !== undefined) return `${fault.path} ${fault.message}`
  if (result.kind === 'refused') return undefined
  if (!(document instanceof Uint8Array)) return 'document must be bytes'
  if (document.length === 0 || document.length > DOCUMENT_BYTES_MAX)
    return `document must have 1 to ${DOCUMENT_BYTES_MAX} bytes`
  return undefined
}
