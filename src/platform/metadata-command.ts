import type { MetadataChange } from '../kernel/metadata.ts'
import {
  type MetadataRequest,
  parseMetadataRequest,
  pickUpdatedMetadataFields,
  type UpdatedMetadata
} from '../kernel/metadata-request.ts'
import type { IdempotentWrite } from './idempotency/write.ts'

/**
 * Changes the metadata of an object: a sent key is set, null deletes it, other keys stay. Raises the version and emits what the
 * route of administrators emits. If the metadata stays equal, it does neither, so a subscriber of that event can call it. A
 * repeated request changes nothing; a retried job sets the same keys again. Opens its own transaction, which locks the object
 * until the commit.
 * @throws `METADATA_LIMIT`, `METADATA_INVALID`, and the error of the module that the object is not found
 */
export type UpdateMetadata = (
  id: string,
  change: MetadataRequest,
  write: IdempotentWrite
) => Promise<UpdatedMetadata>

/** The functions of a module that change the metadata of one of its nouns. */
export type MetadataCommands = { readonly updateMetadata: UpdateMetadata }

type UpdateFields = { metadata?: MetadataChange; private_metadata?: MetadataChange }
type UpdateObject = (id: string, fields: UpdateFields, write: IdempotentWrite) => Promise<UpdatedMetadata>

/** Creates the command for other modules from the function that updates the object for administrators. */
export const createMetadataCommand =
  (update: UpdateObject): UpdateMetadata =>
  async (id, change, write) => {
    const { metadata, private_metadata } = parseMetadataRequest(change)
    const fields = { ...(metadata && { metadata }), ...(private_metadata && { private_metadata }) }
    return pickUpdatedMetadataFields(await update(id, fields, write))
  }
