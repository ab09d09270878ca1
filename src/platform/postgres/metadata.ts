import { declareConstraint } from '../../kernel/errors.ts'
import {
  type Metadata,
  type MetadataChange,
  metadataLimitExceeded,
  normalizeMetadataChange
} from '../../kernel/metadata.ts'
import { json, statement } from './statement.ts'

// A table with metadata has the columns `metadata` and, unless customers write it, `private_metadata`, and a constraint
// `<table>_metadata` with the limits.

/** The columns of an object that administrators see. */
export const metadataColumns = { metadata: json<Metadata>(), private_metadata: json<Metadata>() } as const

/** Returns the SQL of a column after a change: the counterpart of `mergeMetadata`. */
export const mergedMetadataSql = (column: string, change: string): string =>
  `jsonb_strip_nulls(${column} || ${change})`

/** Declares the limits of a table, so that their violation is the error `METADATA_LIMIT`. */
export function declareMetadata(table: `${string}.${string}`): void {
  declareConstraint(metadataLimitExceeded, `${table}_metadata`)
}

/**
 * Declares the metadata of a table, and returns the statement that changes it. `also`: further assignments, such as of the
 * version, for objects whose other columns did not change with it.
 */
export function metadataUpdate(name: string, table: `${string}.${string}`, also = '') {
  declareMetadata(table)
  return statement({
    name,
    takes: { id: 'uuid', metadata: json<MetadataChange>(), private_metadata: json<MetadataChange>() },
    text: `
    update ${table} set
      metadata = ${mergedMetadataSql('metadata', '$metadata')},
      private_metadata = ${mergedMetadataSql('private_metadata', '$private_metadata')}${also}
    where id = $id`
  })
}

/** The fields of a request that change metadata. */
export type MetadataRequest = {
  readonly metadata?: MetadataChange | undefined
  readonly private_metadata?: MetadataChange | undefined
}

/** Returns the parameters of `metadataUpdate`. `undefined`: the request has no metadata, and nothing is written. */
export function metadataChangesOf({ metadata, private_metadata }: MetadataRequest) {
  if (metadata === undefined && private_metadata === undefined) return undefined
  return {
    metadata: normalizeMetadataChange(metadata ?? {}),
    private_metadata: normalizeMetadataChange(private_metadata ?? {})
  }
}

/** Returns the condition that a row has this metadata. Indexes of the column are partial and need its second half. */
export const metadataMatchSql = (metadata: string): string => `(metadata @> ${metadata} and metadata <> '{}')`
/** The same for `$metadata`, unless that is null. */
export const hasMetadataSql = `($metadata::jsonb is null or ${metadataMatchSql('$metadata')})`
/** The parts of `boundedSearchSql` for rows with the metadata `$metadata`. */
export const metadataSearch = {
  isMatch: metadataMatchSql,
  value: '$metadata',
  hiddenValue: '(select $metadata::jsonb)'
} as const
