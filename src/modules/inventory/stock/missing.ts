import { type Books, isOpen, type Row } from './books.ts'
import { FACT_RULES, shippedBy } from './facts.ts'
import type { Operation } from './state.ts'

/** The rows that an operation may change. */
function rowsFor(books: Books, operation: Operation): readonly Row[] {
  if (operation.kind === 'count' || operation.kind === 'adjust' || operation.kind === 'return') return []
  const rows = books.rowsOf(operation.owner)
  if (operation.kind === 'drop') return rows.filter(row => row.state === 'held' || !row.isFree)
  // What is being claimed is not due.
  if (operation.kind === 'expire')
    return rows.every(row => row.isFree) ? rows.filter(row => row.state === 'held' && row.isDue) : []
  return rows.filter(row => isOpen(row) || !row.isFree)
}

function itemsFor(books: Books, operation: Operation): readonly string[] {
  switch (operation.kind) {
    case 'reserve':
      return operation.needs.flatMap(need => need.parts.map(part => part.itemId))
    case 'ship':
    case 'return':
      return (operation.parts ?? []).map(part => part.itemId)
    case 'take':
      return operation.parts.map(part => part.itemId)
    case 'unship':
      return shippedBy(books, operation, FACT_RULES).map(({ itemId }) => itemId)
    case 'count':
    case 'adjust':
      return operation.lines.map(line => line.itemId)
    default:
      return []
  }
}

/** What must be locked before the operation can be decided; undefined: nothing. */
export function findMissing(
  books: Books,
  operation: Operation
): { itemIds: readonly string[]; isRow: boolean } | undefined {
  const rows = rowsFor(books, operation)
  const isOfUntracked = ['count', 'adjust', 'unship'].includes(operation.kind)
  const items = itemsFor(books, operation).filter(
    itemId => !books.isLocked(itemId) && (isOfUntracked || books.item(itemId)?.tracked !== false)
  )
  const taken = rows.filter(row => !row.isFree)
  const unlocked = rows.filter(row => !books.isLocked(row.itemId))
  if (items.length + taken.length + unlocked.length === 0) return undefined
  const itemIds = new Set([...items, ...[...taken, ...unlocked].map(row => row.itemId)])
  return { itemIds: [...itemIds], isRow: taken.length > 0 }
}
