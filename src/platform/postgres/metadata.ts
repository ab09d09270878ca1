import { declareConstraint } from '../../kernel/errors.ts'
import {
  type Metadata,
  type MetadataChange,
  metadataLimitExceededError,
  normalizeMetadataChange
} from '../../kernel/metadata.ts'
import type { MetadataRequest } from '../../kernel/metadata-request.ts'
import type { Transaction } from './database.ts'
import { json, statement } from './statement.ts'

// A table with metadata has the columns `metadata` and, unless customers write it, `private_metadata`, and a constraint
// `<table>_metadata` with the limits.

/** The columns of an object that administrators see. */
export const adminMetadataColumns = {
  metadata: json<Metadata>(),
  private_metadata: json<Metadata>()
} as const

/** Returns the SQL of a column after a change: the counterpart of `mergeMetadata`. */
export const mergedMetadataSql = (column: string, change: string): string =>
  `jsonb_strip_nulls(${column} || ${change})`

/** Declares the limits of a table, so that their violation is the error `METADATA_LIMIT`. */
export function declareMetadataLimitConstraint(table: `${string}.${string}`): void {
  declareConstraint(metadataLimitExceededError, `${table}_metadata`)
}

/** A change of the metadata of one object. */
export type MetadataChangeRow = {
  readonly id: string
  readonly metadata: MetadataChange
  readonly private_metadata: MetadataChange
}

/**
 * Declares the metadata of a table, and returns the statement that changes it in many rows. A row whose metadata would stay equal is
 * not updated. `also`: further assignments, such as of the version, for objects whose other columns did not change with it.
 */
export function metadataUpdateStatement(name: string, table: `${string}.${string}`, also = '') {
  declareMetadataLimitConstraint(table)
  const metadata = mergedMetadataSql('changed.metadata', 'rows.metadata')
  const privateMetadata = mergedMetadataSql('changed.private_metadata', 'rows.private_metadata')
  return statement({
    name,
    takes: { rows: json<readonly MetadataChangeRow[]>() },
    text: `
    update ${table} as changed set
      metadata = ${metadata},
      private_metadata = ${privateMetadata}${also}
    from jsonb_to_recordset($rows) as rows (id uuid, metadata jsonb, private_metadata jsonb)
    where changed.id = rows.id
      and (changed.metadata, changed.private_metadata) is distinct from (${metadata}, ${privateMetadata})`
  })
}
/** A statement of `metadataUpdateStatement`. */
export type MetadataUpdateStatement = ReturnType<typeof metadataUpdateStatement>

type ObjectRequest = MetadataRequest & { readonly id: string }

/** Changes the metadata of objects. Sends no statement when no request has any. @throws `METADATA_LIMIT` */
export async function changeMetadata(
  tx: Transaction,
  update: MetadataUpdateStatement,
  ...objects: readonly ObjectRequest[]
): Promise<void> {
  const rows = objects
    .filter(({ metadata, private_metadata }) => metadata !== undefined || private_metadata !== undefined)
    .map(({ id, metadata = {}, private_metadata = {} }) => ({
      id,
      metadata: normalizeMetadataChange(metadata),
      private_metadata: normalizeMetadataChange(private_metadata)
    }))
  if (rows.length > 0) await tx.run(update, { rows })
}

/** Returns the condition that a row has this metadata. Indexes of the column are partial and need its second half. */
export const metadataMatchSql = (metadata: string): string => `(metadata @> ${metadata} and metadata <> '{}')`
/** The same for `$metadata`, unless that is null. */
export const hasMetadataSql = `($metadata::jsonb is null or ${metadataMatchSql('$metadata')})`
/** The parts of `boundedSearchSql` for rows with the metadata `$metadata`. */
export const metadataSearchSqlParts = {
  isMatch: metadataMatchSql,
  value: '$metadata',
  hiddenValue: '(select $metadata::jsonb)'
} as const
