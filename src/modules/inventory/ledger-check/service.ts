import { isId, LOWEST_ID, newId } from '../../../kernel/ids.ts'
import { decodeCursor, encodeCursor, invalidCursorError } from '../../../kernel/pages.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { databaseBusyError } from '../../../platform/postgres/errors.ts'
import type { StockWriter } from '../writer/writer.ts'
import {
  assessStockLedgerLevel,
  type StockLedgerCheckReport,
  type StockLedgerFinding,
  type StockLedgerFindingTotals
} from './findings.ts'
import type { StockLedgerFindingMetrics } from './metrics.ts'
import { repairStockLedgerOfItem, type StockLedgerRepairDeps } from './repair.ts'
import * as repository from './repository.ts'
import type { StockLedgerCheckQuery } from './schema.ts'

const LEVELS_MAX = 500
const FINDINGS_MAX = 1_000
/** Maximum wait for the writer to apply overdue work, in milliseconds. */
const WRITER_MS = 5_000
/**
 * Milliseconds for which one request of a check reads the ledger. Its last statement may take two seconds
 * more.
 */
const PART_MS = 4_000
const SHOWN = 100

export type StockLedgerCheckDeps = StockLedgerRepairDeps & {
  db: Queryable
  writer: Pick<StockWriter, 'push' | 'wake' | 'outcomeOf'>
  findingMetrics: Pick<StockLedgerFindingMetrics, 'save'>
}
type CheckOptions = { repair: boolean; actor?: string }
/** Position of a check: the next `limit` levels after this one. */
type CheckPosition = {
  readonly afterItemId: string
  readonly afterLocationId: string
  readonly limit: number
}
/**
 * Findings of one part of the ledger. `next`: the position of the next part; undefined after the last part,
 * which includes overdue reservations and requests.
 */
type CheckPart = {
  readonly levels: number
  readonly findings: readonly StockLedgerFinding[]
  readonly next: CheckPosition | undefined
}

const START: CheckPosition = { afterItemId: LOWEST_ID, afterLocationId: LOWEST_ID, limit: LEVELS_MAX }
const CURSOR = 'inventory.check'

/** Checks the stock ledger and reports discrepancies. Sales continue meanwhile. */
export function createStockLedgerCheckService(deps: StockLedgerCheckDeps) {
  const { db, findingMetrics: figures } = deps

  /** Checks the whole ledger and passes the findings of each part to `onPart`. */
  async function readAll(
    onPart: (findings: readonly StockLedgerFinding[]) => unknown
  ): Promise<StockLedgerFindingTotals> {
    const counts = new Map<StockLedgerFinding['kind'], number>()
    const shown: StockLedgerFinding[] = []
    for (let place: CheckPosition | undefined = START; place !== undefined; ) {
      const part: CheckPart = await readPart(db, place)
      for (const { kind } of part.findings) counts.set(kind, (counts.get(kind) ?? 0) + 1)
      shown.push(...part.findings.slice(0, FINDINGS_MAX - shown.length))
      await onPart(part.findings)
      place = part.next
    }
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    return { findings: shown, total, counts }
  }

  /** See `InventoryApi.check`. `onProgress` is called after each step. */
  async function check(
    { repair, actor }: CheckOptions,
    onProgress: () => void = () => {}
  ): Promise<StockLedgerCheckReport> {
    const found = await readAll(async findings => {
      onProgress()
      if (repair) await repairAll(deps, findings, { actor: actor ?? null, onProgress })
    })
    const left = repair && found.total > 0 ? await readAll(onProgress) : found
    if (repair) await figures.save(left.counts)
    const { findings, total } = found
    return { findings, total, repaired: Math.max(0, total - left.total), left: left.findings }
  }

  /** Checks the whole ledger and stores the counts for the metrics of every process. */
  async function count(signal: AbortSignal): Promise<StockLedgerFindingTotals> {
    const found = await readAll(() => signal.throwIfAborted())
    await figures.save(found.counts)
    return found
  }

  /** Checks for a few seconds and returns the cursor of the rest. */
  async function list({ limit = SHOWN, cursor }: StockLedgerCheckQuery, onProgress: () => void) {
    const startedAt = performance.now()
    let place: CheckPosition | undefined = cursor === undefined ? START : positionOf(cursor)
    const findings: StockLedgerFinding[] = []
    let [levels, total] = [0, 0]
    do {
      const part: CheckPart = await readPart(db, place)
      onProgress()
      levels += part.levels
      total += part.findings.length
      findings.push(...part.findings.slice(0, limit - findings.length))
      place = part.next
    } while (place !== undefined && performance.now() - startedAt < PART_MS)
    const rest_cursor = place === undefined ? null : cursorOf(place)
    return { findings, total, levels, rest_cursor }
  }

  return { check, count, list }
}
export type StockLedgerCheckService = ReturnType<typeof createStockLedgerCheckService>

const cursorOf = ({ afterItemId, afterLocationId, limit }: CheckPosition) =>
  encodeCursor([CURSOR, afterItemId, afterLocationId, limit])

/** @throws `INVALID_CURSOR` */
function positionOf(cursor: string): CheckPosition {
  const [from, item, location, levels] = decodeCursor(cursor, ['string', 'string', 'string', 'number'])
  const [afterItemId, afterLocationId, limit] = [String(item), String(location), Number(levels)]
  const isOurs = from === CURSOR && isId(afterItemId) && isId(afterLocationId)
  if (!isOurs || limit < 1 || limit > LEVELS_MAX) throw invalidCursorError()
  return { afterItemId, afterLocationId, limit }
}

/**
 * Checks one page. When a long history exceeds the statement timeout, it reads a tenth of the levels, then
 * gradually more.
 */
async function readPart(db: Queryable, place: CheckPosition): Promise<CheckPart> {
  const { limit } = place
  try {
    const rows = await db.rows(repository.listStockLedgerLevels, place)
    const findings = rows.flatMap(level => assessStockLedgerLevel(level).findings)
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit)
      return {
        levels: rows.length,
        findings: [...findings, ...(await findOutsideLevels(db))],
        next: undefined
      }
    const next = {
      afterItemId: last.item_id,
      afterLocationId: last.location_id,
      limit: Math.min(limit * 2, LEVELS_MAX)
    }
    return { levels: rows.length, findings, next }
  } catch (error) {
    if (limit === 1 || (error as { code?: string }).code !== databaseBusyError.code) throw error
    return readPart(db, { ...place, limit: Math.ceil(limit / 10) })
  }
}

async function findOutsideLevels(db: Queryable): Promise<StockLedgerFinding[]> {
  const limit = FINDINGS_MAX
  const [places, overdue, undone] = await Promise.all([
    db.rows(repository.listMissingStockLevelsOfReservations, { limit }),
    db.rows(repository.listOverdueReservations, { limit }),
    db.rows(repository.listOverdueStockRequests, { limit })
  ])
  return [
    ...places.map(({ item_id: itemId, location_id: locationId }): StockLedgerFinding => {
      const detail = 'a reservation has no level'
      return { kind: 'level_missing', itemId, locationId, detail }
    }),
    ...overdue.map(({ owner, item_ids: itemIds, seconds }): StockLedgerFinding => {
      return { kind: 'reservation_overdue', owner, itemIds, detail: `expired ${Math.round(seconds)} s ago` }
    }),
    ...undone.map(({ id: requestId, kind, seconds }): StockLedgerFinding => {
      return {
        kind: 'request_overdue',
        requestId,
        detail: `a ${kind} request, pending for ${Math.round(seconds)} s`
      }
    })
  ]
}

type RepairOptions = { actor: string | null; onProgress: () => void }

/** Repairs what can be repaired: levels first, because the writer needs them. */
async function repairAll(
  deps: StockLedgerCheckDeps,
  findings: readonly StockLedgerFinding[],
  { actor, onProgress }: RepairOptions
): Promise<void> {
  const ofLevels = findings.flatMap(each => ('locationId' in each ? [each] : []))
  for (const [itemId, ofItem] of Map.groupBy(ofLevels, each => each.itemId)) {
    const missing = ofItem.filter(({ kind }) => kind === 'level_missing')
    const locationIds = missing.map(({ locationId }) => locationId)
    await repairStockLedgerOfItem(deps, { itemId, missing: locationIds, actor })
    onProgress()
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
