import { compileSchema } from './compile-schema.ts'
import { defineError } from './errors.ts'
import { fieldFaults } from './faults.ts'
import {
  adminMetadataRequestFields,
  isMetadataKeptBy,
  type Metadata,
  type MetadataChange,
  normalizeMetadataChange
} from './metadata.ts'
import { isEmptyPatch } from './patch.ts'
import { Type } from './schema.ts'

/** The fields of a request that change metadata. */
export type MetadataRequest = {
  readonly metadata?: MetadataChange | undefined
  readonly private_metadata?: MetadataChange | undefined
}

/** An object after a command of a module changed its metadata. */
export type UpdatedMetadata = {
  readonly id: string
  readonly version: number
  readonly metadata: Metadata
  readonly private_metadata: Metadata
}
/** Returns only the fields of an object that `updateMetadata` of a module returns. */
export const pickUpdatedMetadataFields = ({
  id,
  version,
  metadata,
  private_metadata
}: UpdatedMetadata): UpdatedMetadata => ({ id, version, metadata, private_metadata })

/** Whether an update leaves an object as it is: it has no field, or only metadata that the object has already. */
export function isUpdateWithoutEffect(
  stored: Pick<UpdatedMetadata, 'metadata' | 'private_metadata'>,
  { metadata = {}, private_metadata = {}, ...fields }: MetadataRequest
): boolean {
  const isMetadataKept =
    isMetadataKeptBy(stored.metadata, metadata) && isMetadataKeptBy(stored.private_metadata, private_metadata)
  return isMetadataKept && isEmptyPatch(fields)
}

const metadataErasedError = defineError(
  'conflict',
  'METADATA_ERASED',
  'The personal data of the order was erased, so its metadata can only be deleted. Send null for keys, and no values.'
)
/** Checks that a request on an erased object only deletes keys, because nothing erases values again. @throws `METADATA_ERASED` */
export function assertOnlyDeletesMetadata({ metadata = {}, private_metadata = {} }: MetadataRequest): void {
  const values = [metadata, private_metadata].flatMap(change =>
    Object.values(normalizeMetadataChange(change))
  )
  if (values.some(value => value !== null)) throw metadataErasedError()
}

const metadataInvalidError = defineError(
  'invalid',
  'METADATA_INVALID',
  'A module passed invalid metadata. See "errors" for the fields.'
)
const errorsOf = compileSchema(Type.Object(adminMetadataRequestFields, { additionalProperties: false }))

/** Returns the metadata that a module passed to a command, which the gateway did not validate. @throws `METADATA_INVALID` */
export function parseMetadataRequest(request: MetadataRequest): MetadataRequest {
  const errors = errorsOf(request)
  if (errors.length > 0) throw metadataInvalidError({ details: { errors: fieldFaults('body', errors) } })
  return request
}
