import type { Chores } from '../../../platform/chores.ts'
import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { FINDING_KINDS, type FindingKind } from './findings.ts'
import * as repository from './repository.ts'

const READ_SECONDS = 60

type Deps = { db: Queryable; chores: Chores; metrics: Metrics }

/** What the latest check found, whichever process did it. */
export function createFindingFigures({ db, chores, metrics }: Deps) {
  let known: ReadonlyMap<string, number> = new Map()
  metrics.gauge(
    'findings',
    'Contradictions that the latest check of the books of the stock found.',
    ({ kind }) => known.get(kind) ?? 0,
    { kind: FINDING_KINDS }
  )

  async function read(): Promise<number> {
    known = new Map((await db.rows(repository.listCounts)).map(({ kind, count }) => [kind, count]))
    return 0
  }
  chores.every(READ_SECONDS, 'inventory.read_findings', read)

  return {
    read,
    save: async (counts: ReadonlyMap<FindingKind, number>): Promise<void> => {
      await db.run(repository.saveCounts, {
        kinds: FINDING_KINDS,
        counts: FINDING_KINDS.map(kind => counts.get(kind) ?? 0)
      })
      known = counts
    }
  }
}
export type FindingFigures = ReturnType<typeof createFindingFigures>
