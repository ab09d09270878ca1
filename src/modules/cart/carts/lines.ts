import {
  isEmptyMetadata,
  lineEqualityKey,
  type Metadata,
  type MetadataChange,
  mergeChangeIntoLineMetadata
} from '../../../kernel/metadata.ts'
import { sumQuantitiesByVariant } from '../../../kernel/variant-quantities.ts'
import {
  cartLineAmbiguousError,
  cartLineLimitExceededError,
  cartLineNotFoundError,
  quantityLimitExceededError,
  variantNotInCartError
} from '../errors.ts'

/**
 * A line of a cart as it is stored. The id stays the same as long as the line exists. `metadata`: data of the client, such as
 * an engraving. Each line of a cart has another variant or other metadata.
 */
export type CartLine = {
  readonly id: string
  readonly variantId: string
  readonly quantity: number
  readonly metadata: Metadata
}
/** A change of one line. Metadata is merged; see `mergeChangeIntoLineMetadata`. */
export type CartLinePatch = {
  readonly quantity?: number | undefined
  readonly metadata?: MetadataChange | undefined
}
/** A change of a cart: its lines after the change, and the rows to write. */
export type ChangedCartLines = {
  readonly lines: readonly CartLine[]
  readonly set: readonly CartLine[]
  /** Ids of lines. */
  readonly removed: readonly string[]
}
/** `lineQuantityMax`: the maximum quantity of a variant, in all its lines. A quantity above it can be reduced in steps. */
export type CartLimits = { readonly lineQuantityMax: number; readonly linesMax: number }

/**
 * Adds a line, or its quantity to the equal line, which keeps its id.
 * @throws `CART_LINE_LIMIT`, `CART_QUANTITY_LIMIT`
 */
export function addCartLine(
  lines: readonly CartLine[],
  added: CartLine,
  limits: CartLimits
): ChangedCartLines {
  const key = lineEqualityKey(added)
  const equal = lines.find(line => lineEqualityKey(line) === key)
  if (equal === undefined && lines.length >= limits.linesMax) {
    throw cartLineLimitExceededError({ details: { limit: limits.linesMax } })
  }
  const line = equal === undefined ? added : { ...equal, quantity: equal.quantity + added.quantity }
  return withinQuantityLimit(lines, computeUpsertedCartLineChanges(lines, [line]), added.variantId, limits)
}

/**
 * Sets the quantity of the only line of a variant.
 * @throws `CART_ITEM_NOT_FOUND`, `CART_LINE_AMBIGUOUS`, `CART_QUANTITY_LIMIT`
 */
export function setCartVariantQuantity(
  lines: readonly CartLine[],
  { variantId, quantity }: Pick<CartLine, 'variantId' | 'quantity'>,
  limits: CartLimits
): ChangedCartLines {
  const line = findOnlyLine(lines, variantId)
  if (line === undefined) throw variantNotInCartError()
  return withinQuantityLimit(
    lines,
    computeUpsertedCartLineChanges(lines, [{ ...line, quantity }]),
    variantId,
    limits
  )
}

/** Removes the only line of a variant, if there is one. @throws `CART_LINE_AMBIGUOUS` */
export function removeOnlyCartLineOfVariant(lines: readonly CartLine[], variantId: string): ChangedCartLines {
  const line = findOnlyLine(lines, variantId)
  return removeCartLines(lines, line === undefined ? [] : [line.id])
}

function findOnlyLine(lines: readonly CartLine[], variantId: string): CartLine | undefined {
  const [line, ...others] = lines.filter(each => each.variantId === variantId)
  if (others.length > 0) throw cartLineAmbiguousError()
  return line
}

/**
 * Changes a line. When it becomes equal to another line, both become one, with the id and position of the older one.
 * @throws `CART_LINE_NOT_FOUND`, `CART_QUANTITY_LIMIT`, `METADATA_LIMIT`
 */
export function patchCartLine(
  lines: readonly CartLine[],
  lineId: string,
  { quantity, metadata }: CartLinePatch,
  limits: CartLimits
): ChangedCartLines {
  const line = requireCartLine(lines, lineId)
  if (quantity === undefined && metadata === undefined) return { lines, set: [], removed: [] }
  const changed = {
    ...line,
    ...(quantity !== undefined && { quantity }),
    ...(metadata !== undefined && { metadata: mergeChangeIntoLineMetadata(line.metadata, metadata) })
  }
  const changes = withMergedLine(lines, changed)
  return quantity === undefined ? changes : withinQuantityLimit(lines, changes, line.variantId, limits)
}

function withMergedLine(lines: readonly CartLine[], changed: CartLine): ChangedCartLines {
  const key = lineEqualityKey(changed)
  const equal = lines.find(other => other.id !== changed.id && lineEqualityKey(other) === key)
  if (equal === undefined) return computeUpsertedCartLineChanges(lines, [changed])
  const isOlder = lines.indexOf(equal) < lines.findIndex(line => line.id === changed.id)
  const [older, newer] = isOlder ? [equal, changed] : [changed, equal]
  const merged = { ...older, quantity: older.quantity + newer.quantity }
  const { lines: kept, removed } = removeCartLines(lines, [newer.id])
  return { ...computeUpsertedCartLineChanges(kept, [merged]), removed }
}

/** Removes a line. @throws `CART_LINE_NOT_FOUND` */
export const removeCartLine = (lines: readonly CartLine[], lineId: string): ChangedCartLines =>
  removeCartLines(lines, [requireCartLine(lines, lineId).id])

function requireCartLine(lines: readonly CartLine[], lineId: string): CartLine {
  const line = lines.find(({ id }) => id === lineId)
  if (line === undefined) throw cartLineNotFoundError()
  return line
}

function withinQuantityLimit(
  before: readonly CartLine[],
  changes: ChangedCartLines,
  variantId: string,
  { lineQuantityMax }: CartLimits
): ChangedCartLines {
  const quantity = quantityOfVariant(changes.lines, variantId)
  if (quantity > lineQuantityMax && quantity > quantityOfVariant(before, variantId))
    throw quantityLimitExceededError({ details: { limit: lineQuantityMax } })
  return changes
}

/** Returns the quantity of a variant in all its lines. */
export const quantityOfVariant = (lines: readonly CartLine[], variantId: string): number =>
  lines.reduce((sum, line) => (line.variantId === variantId ? sum + line.quantity : sum), 0)

/**
 * Whether a quantity of the variant may be split into lines: one of them has metadata. Until all its lines are in the cart,
 * their sum can break minimum and step, so the checkout checks these.
 */
export const isSplittable = (lines: readonly CartLine[], variantId: string): boolean =>
  lines.some(line => line.variantId === variantId && !isEmptyMetadata(line.metadata))

/** Returns for each line the quantity of its variant in all lines. */
export function variantQuantityOfEachLine(lines: readonly CartLine[]): number[] {
  if (!canRepeatVariants(lines)) return lines.map(({ quantity }) => quantity)
  const sums = sumQuantitiesByVariant(lines)
  return lines.map(({ variantId }) => sums.get(variantId) ?? 0)
}

/** Returns the number of different variants. */
export const countDistinctCartVariants = (lines: readonly CartLine[]): number =>
  canRepeatVariants(lines) ? new Set(lines.map(({ variantId }) => variantId)).size : lines.length

/** Lines without metadata have different variants. Most carts have only such lines, so this saves a map for each read. */
const canRepeatVariants = (lines: readonly CartLine[]): boolean =>
  lines.some(({ metadata }) => !isEmptyMetadata(metadata))

/** Sets lines: existing lines keep their position, new lines come last. */
export const computeUpsertedCartLineChanges = (
  lines: readonly CartLine[],
  set: readonly CartLine[]
): ChangedCartLines => ({
  lines: withUpsertedCartLines(lines, set),
  set,
  removed: []
})

/** Removes lines. Ignores ids that are not in the cart. */
export function removeCartLines(lines: readonly CartLine[], lineIds: readonly string[]): ChangedCartLines {
  const ids = new Set(lineIds)
  const kept = lines.filter(line => !ids.has(line.id))
  const removed = lines.filter(line => ids.has(line.id)).map(line => line.id)
  return { lines: kept, set: [], removed }
}

/** Returns the lines with those of `set` changed or added. */
export function withUpsertedCartLines(lines: readonly CartLine[], set: readonly CartLine[]): CartLine[] {
  const changed = new Map(set.map(line => [line.id, line]))
  const kept = lines.map(line => changed.get(line.id) ?? line)
  const known = new Set(lines.map(line => line.id))
  return [...kept, ...set.filter(line => !known.has(line.id))]
}
