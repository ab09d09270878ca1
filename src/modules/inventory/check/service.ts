import { FIRST_ID, isId, newId } from '../../../kernel/ids.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../../../kernel/pages.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { databaseBusy } from '../../../platform/postgres/errors.ts'
import type { Writer } from '../writer/writer.ts'
import type { FindingFigures } from './figures.ts'
import { type CheckReport, type Finding, judge, type Tally } from './findings.ts'
import { type MendingDeps, mendItem } from './mending.ts'
import * as repository from './repository.ts'
import type { CheckQuery } from './schema.ts'

const LEVELS_MAX = 500
const FINDINGS_MAX = 1_000
/** How long the writer is given for what it has left undone. */
const WRITER_MS = 5_000
/** How long one request reads on; its last statement may take two seconds more. */
const PART_MS = 4_000
const SHOWN = 100

export type CheckDeps = MendingDeps & {
  db: Queryable
  writer: Pick<Writer, 'push' | 'wake' | 'outcomeOf'>
  figures: Pick<FindingFigures, 'save'>
}
type CheckOptions = { repair: boolean; actor?: string }
/** Behind this level, `limit` of them. */
type Place = { readonly afterItemId: string; readonly afterLocationId: string; readonly limit: number }
/** `next` is undefined behind the last level; what is wrong beside levels is found then. */
type Part = {
  readonly levels: number
  readonly findings: readonly Finding[]
  readonly next: Place | undefined
}

const START: Place = { afterItemId: FIRST_ID, afterLocationId: FIRST_ID, limit: LEVELS_MAX }
const CURSOR = 'inventory.check'

/** Reads the books of the stock and says where they contradict each other. Sales go on meanwhile. */
export function createCheckService(deps: CheckDeps) {
  const { db, figures } = deps

  /** Reads all of it, and does something about the findings of each part. */
  async function readAll(onPart: (findings: readonly Finding[]) => unknown): Promise<Tally> {
    const counts = new Map<Finding['kind'], number>()
    const shown: Finding[] = []
    for (let place: Place | undefined = START; place !== undefined; ) {
      const part: Part = await readPart(db, place)
      for (const { kind } of part.findings) counts.set(kind, (counts.get(kind) ?? 0) + 1)
      shown.push(...part.findings.slice(0, FINDINGS_MAX - shown.length))
      await onPart(part.findings)
      place = part.next
    }
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    return { findings: shown, total, counts }
  }

  /** See `InventoryApi.check`. `onProgress` is called every moment. */
  async function check(
    { repair, actor }: CheckOptions,
    onProgress: () => void = () => {}
  ): Promise<CheckReport> {
    const found = await readAll(async findings => {
      onProgress()
      if (repair) await mendAll(deps, findings, { actor: actor ?? null, onProgress })
    })
    const left = repair && found.total > 0 ? await readAll(onProgress) : found
    if (repair) await figures.save(left.counts)
    const { findings, total } = found
    return { findings, total, repaired: Math.max(0, total - left.total), left: left.findings }
  }

  /** Counts what is wrong in all of the books, for the metrics of every process. */
  async function count(signal: AbortSignal): Promise<Tally> {
    const found = await readAll(() => signal.throwIfAborted())
    await figures.save(found.counts)
    return found
  }

  /** As much as can be read in some seconds; another request goes on behind it. */
  async function list({ limit = SHOWN, cursor }: CheckQuery, onProgress: () => void) {
    const startedAt = performance.now()
    let place: Place | undefined = cursor === undefined ? START : placeOf(cursor)
    const findings: Finding[] = []
    let [levels, total] = [0, 0]
    do {
      const part: Part = await readPart(db, place)
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
export type CheckService = ReturnType<typeof createCheckService>

const cursorOf = ({ afterItemId, afterLocationId, limit }: Place) =>
  encodeCursor([CURSOR, afterItemId, afterLocationId, limit])

/** @throws `INVALID_CURSOR` */
function placeOf(cursor: string): Place {
  const [from, item, location, levels] = decodeCursor(cursor, ['string', 'string', 'string', 'number'])
  const [afterItemId, afterLocationId, limit] = [String(item), String(location), Number(levels)]
  const isOurs = from === CURSOR && isId(afterItemId) && isId(afterLocationId)
  if (!isOurs || limit < 1 || limit > LEVELS_MAX) throw invalidCursor()
  return { afterItemId, afterLocationId, limit }
}

/** Levels with a long history take long: when it is too long, a tenth as many are read, and then by and by more. */
async function readPart(db: Queryable, place: Place): Promise<Part> {
  const { limit } = place
  try {
    const rows = await db.rows(repository.listBooks, place)
    const findings = rows.flatMap(books => judge(books).findings)
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit)
      return { levels: rows.length, findings: [...findings, ...(await readRest(db))], next: undefined }
    const next = {
      afterItemId: last.item_id,
      afterLocationId: last.location_id,
      limit: Math.min(limit * 2, LEVELS_MAX)
    }
    return { levels: rows.length, findings, next }
  } catch (error) {
    if (limit === 1 || (error as { code?: string }).code !== databaseBusy.code) throw error
    return readPart(db, { ...place, limit: Math.ceil(limit / 10) })
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

type Mending = { actor: string | null; onProgress: () => void }

/** Puts right what can be: levels first, because the writer needs them for the rest. */
async function mendAll(
  deps: CheckDeps,
  findings: readonly Finding[],
  { actor, onProgress }: Mending
): Promise<void> {
  const ofLevels = findings.flatMap(each => ('locationId' in each ? [each] : []))
  for (const [itemId, ofItem] of Map.groupBy(ofLevels, each => each.itemId)) {
    const missing = ofItem.filter(({ kind }) => kind === 'level_missing')
    const locationIds = missing.map(({ locationId }) => locationId)
    await mendItem(deps, { itemId, missing: locationIds, actor })
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
