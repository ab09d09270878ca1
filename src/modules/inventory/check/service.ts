import { FIRST_ID, newId } from '../../../kernel/ids.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Writer } from '../writer/writer.ts'
import { type CheckReport, type Finding, judge } from './findings.ts'
import { type MendingDeps, mendItem } from './mending.ts'
import * as repository from './repository.ts'

const LEVELS_PER_PAGE = 500
const FINDINGS_MAX = 1_000
/** How long the writer is given for what it has left undone. */
const WRITER_MS = 5_000

export type CheckDeps = MendingDeps & {
  db: Queryable
  writer: Pick<Writer, 'push' | 'wake' | 'outcomeOf'>
}

/** Reads the books of the whole stock and says where they contradict each other. Sales go on meanwhile. */
export function createCheckService(deps: CheckDeps) {
  const { db } = deps
  return {
    /** See `InventoryApi.check`. */
    async check({ repair }: { repair: boolean }): Promise<CheckReport> {
      const before = await read(db)
      const { total } = before
      const findings = before.findings.slice(0, FINDINGS_MAX)
      if (!repair || total === 0) return { findings, total, repaired: 0 }
      await mendAll(deps, before.findings)
      const left = await read(db)
      return { findings, total, repaired: Math.max(0, total - left.total) }
    }
  }
}

/** Everything that is wrong now. */
async function read(db: Queryable): Promise<{ findings: Finding[]; total: number }> {
  const findings = [...(await readBooks(db)), ...(await readRest(db))]
  return { findings, total: findings.length }
}

async function readBooks(db: Queryable): Promise<Finding[]> {
  const findings: Finding[] = []
  let after = { afterItemId: FIRST_ID, afterLocationId: FIRST_ID }
  for (;;) {
    const page = await db.rows(repository.listBooks, { ...after, limit: LEVELS_PER_PAGE })
    for (const books of page) findings.push(...judge(books).findings)
    const last = page.at(-1)
    if (last === undefined || page.length < LEVELS_PER_PAGE) return findings
    after = { afterItemId: last.item_id, afterLocationId: last.location_id }
  }
}

async function readRest(db: Queryable): Promise<Finding[]> {
  const limit = FINDINGS_MAX
  const [places, overdue, undone] = await Promise.all([
    db.rows(repository.listWithoutLevel, { limit }),
    db.rows(repository.listOverdue, { limit }),
    db.rows(repository.listUndone, { limit })
  ])
  return [
    ...places.map(({ item_id: itemId, location_id: locationId }): Finding => {
      const detail = 'something is reserved where there is no level'
      return { kind: 'level_missing', itemId, locationId, detail }
    }),
    ...overdue.map(({ owner, item_ids: itemIds, seconds }): Finding => {
      return { kind: 'reservation_overdue', owner, itemIds, detail: `due for ${Math.round(seconds)} s` }
    }),
    ...undone.map(({ id: requestId, kind, seconds }): Finding => {
      return { kind: 'request_overdue', requestId, detail: `a ${kind}, open for ${Math.round(seconds)} s` }
    })
  ]
}

/** Puts right what can be: levels first, because the writer needs them for the rest. */
async function mendAll(deps: CheckDeps, findings: readonly Finding[]): Promise<void> {
  const ofLevels = findings.flatMap(each => ('locationId' in each ? [each] : []))
  for (const [itemId, ofItem] of Map.groupBy(ofLevels, each => each.itemId)) {
    const missing = ofItem.filter(({ kind }) => kind === 'level_missing')
    await mendItem(
      deps,
      itemId,
      missing.map(({ locationId }) => locationId)
    )
  }

  const { writer } = deps
  const deadlineAt = performance.now() + WRITER_MS
  writer.wake()
  await Promise.allSettled(
    findings.map(async each => {
      if (each.kind === 'request_overdue') await writer.outcomeOf(each.requestId, deadlineAt)
      if (each.kind !== 'reservation_overdue') return
      const { owner, itemIds: expired } = each
      await writer.push({ kind: 'expire', id: newId(), owner, itemIds: expired }, deadlineAt)
    })
  )
}
