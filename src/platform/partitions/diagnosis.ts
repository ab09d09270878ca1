import { type DiagnosisCheck, okDiagnosisFinding, warningDiagnosisFinding } from '../../kernel/diagnosis.ts'
import type { Database } from '../postgres/database.ts'
import { listRowsOutsidePeriods } from './queries.ts'

/** Finds rows in default partitions: they are not deleted by dropping a partition. */
export const diagnosePartitions = (
  db: Pick<Database, 'rows'>,
  tables: readonly { readonly table: string }[]
): DiagnosisCheck => ({
  about: 'partitions',
  find: async () => {
    const found = await db.rows(listRowsOutsidePeriods, { tables: tables.map(({ table }) => table) })
    if (found.length === 0) return okDiagnosisFinding('every row is in the partition of its time')
    return warningDiagnosisFinding(
      found.map(({ table, rows }) => `${table}: ${rows} rows are in no partition of their time`).join('; '),
      'A running server moves them within an hour. If not, its log has the reason, or the clock of a server was wrong.'
    )
  }
})
