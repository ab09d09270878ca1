import {
  CUSTOMER_WRITTEN_METADATA_BYTES_MAX,
  lineEqualityKey,
  type Metadata,
  sumMetadataBytes
} from '../../../kernel/metadata.ts'
import {
  largestAllowedQuantity,
  type QuantityRule,
  withoutMinAndStep
} from '../../../kernel/quantity-rule.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import { type CartLimits, type CartLine, isSplittable, quantityOfVariant } from '../carts/lines.ts'

/**
 * The quantity of a line that is in both carts, with one variant and equal metadata: the sum, the larger one, the guest's, or
 * the customer's. Lines that only one cart has are kept with every strategy.
 */
export type CartMergeStrategy = 'sum' | 'max' | 'guest' | 'customer'

/** The reason why a merged line has fewer units than the strategy requires. */
type AdjustmentReason =
  | 'unavailable'
  | 'quantity_limit'
  | 'quantity_rule'
  | 'insufficient_stock'
  | 'line_limit'
  | 'metadata_limit'
/** A reduced line: the strategy requires `requested`, and the cart has `granted`. */
export type CartMergeAdjustment = {
  variantId: string
  metadata: Metadata
  requested: number
  granted: number
  reason: AdjustmentReason
}
export type CartMergeOutcome = {
  /** The lines to set in the customer's cart: new lines and lines with another quantity. */
  changed: CartLine[]
  adjustments: CartMergeAdjustment[]
}
/**
 * The quantities of a variant that can be bought: at most `stock` (`null`: unlimited), and as its rule
 * allows.
 */
export type SellableVariantLimits = { readonly stock: number | null; readonly rule: QuantityRule }
/** Returns `undefined` for a variant that is not for sale. */
export type FindSellableVariantLimits = (variantId: string) => SellableVariantLimits | undefined

const COMBINE: Record<CartMergeStrategy, (customer: number, guest: number) => number> = {
  sum: (customer, guest) => customer + guest,
  max: (customer, guest) => Math.max(customer, guest),
  guest: (_customer, guest) => guest,
  customer: customer => customer
}

/** `metadataBytesMax`: bytes for the metadata of all lines. */
type CartMergeLimits = CartLimits & { readonly metadataBytesMax: number }
export type CartMergeInput = {
  readonly customer: readonly CartLine[]
  /** Each line with another variant or other metadata. */
  readonly guest: readonly CartLine[]
  readonly strategy: CartMergeStrategy
  readonly limits: CartMergeLimits
  readonly sellableOf: FindSellableVariantLimits
}

/** A line of the guest. `line.id` is the id in the customer's cart. `quantityBefore`: its quantity there; 0 for a new line. */
type WantedLine = { readonly line: CartLine; readonly quantityBefore: number; readonly requested: number }
type GrantedLine = { readonly quantity: number; readonly reason: AdjustmentReason }
type Grants = Map<WantedLine, GrantedLine>
/** Lines and bytes that the cart can still take. */
type RemainingCartCapacity = { lines: number; bytes: number }

/**
 * Merges the lines of a guest into those of a customer. Limits, quantity rules and stock apply to the quantity of a variant in
 * all its lines. Minimum and step are not checked while one of these lines has metadata. Limits reduce only the added units,
 * beginning with the last line. Only the strategy can reduce the units that the customer's cart had before. `adjustments` lists
 * each reduction by a limit. A new line keeps the id that it has in the guest's cart.
 */
export function mergeCartLines({
  customer,
  guest,
  strategy,
  limits,
  sellableOf
}: CartMergeInput): CartMergeOutcome {
  const present = new Map(customer.map(line => [lineEqualityKey(line), line]))
  const wanted = guest.map((line): WantedLine => {
    const own = present.get(lineEqualityKey(line))
    if (own === undefined) return { line, quantityBefore: 0, requested: line.quantity }
    return {
      line: own,
      quantityBefore: own.quantity,
      requested: COMBINE[strategy](own.quantity, line.quantity)
    }
  })
  const capacity: RemainingCartCapacity = {
    lines: limits.linesMax - customer.length,
    bytes: limits.metadataBytesMax - sumMetadataBytes(customer.map(line => line.metadata))
  }
  const grants: Grants = new Map()
  for (const [variantId, lines] of Map.groupBy(wanted, each => each.line.variantId)) {
    const others = quantityOfVariant(customer, variantId) - sumBy(lines, each => each.quantityBefore)
    const known = sellableOf(variantId)
    const sellable =
      known && isSplittable([...customer, ...lines.map(({ line }) => line)], variantId)
        ? { ...known, rule: withoutMinAndStep(known.rule) }
        : known
    grantVariant(lines, { others, sellable, limits, capacity, grants })
  }
  return outcomeOf(wanted, grants)
}

type VariantMerge = {
  /** Quantity of the customer's other lines of the variant. */
  readonly others: number
  readonly sellable: SellableVariantLimits | undefined
  readonly limits: CartMergeLimits
  readonly capacity: RemainingCartCapacity
  readonly grants: Grants
}

/** Grants the quantities of one variant's lines. New lines reduce the remaining capacity of the cart. */
function grantVariant(
  lines: readonly WantedLine[],
  { others, sellable, limits, capacity, grants }: VariantMerge
): void {
  const open = { ...capacity }
  const placed: WantedLine[] = []
  for (const each of lines) {
    const blocked = sellable === undefined ? 'unavailable' : consumeCapacity(each, open)
    if (blocked === undefined) placed.push(each)
    else grants.set(each, { quantity: keptQuantity(each), reason: blocked })
  }
  if (sellable === undefined) return
  const requested = others + sumBy(placed, each => each.requested)
  const { quantity, reason } = allowedQuantity(requested, sellable, limits)
  let left = Math.max(0, quantity - others - sumBy(placed, keptQuantity))
  for (const each of placed) {
    const added = Math.min(each.requested - keptQuantity(each), left)
    left -= added
    grants.set(each, { quantity: keptQuantity(each) + added, reason })
    if (keptQuantity(each) + added > 0) consumeCapacity(each, capacity)
  }
}

/** What the customer's cart had, unless the strategy prefers less. */
const keptQuantity = ({ quantityBefore, requested }: WantedLine): number =>
  Math.min(quantityBefore, requested)

/** Subtracts a new line from the remaining capacity. Returns the reason when the capacity does not suffice. */
function consumeCapacity(
  { line, quantityBefore }: WantedLine,
  capacity: RemainingCartCapacity
): AdjustmentReason | undefined {
  if (quantityBefore > 0) return undefined
  if (capacity.lines < 1) return 'line_limit'
  const bytes = sumMetadataBytes([line.metadata])
  if (bytes > Math.max(0, capacity.bytes)) return 'metadata_limit'
  capacity.lines -= 1
  capacity.bytes -= bytes
  return undefined
}

function outcomeOf(wanted: readonly WantedLine[], grants: Grants): CartMergeOutcome {
  const changed: CartLine[] = []
  const adjustments: CartMergeAdjustment[] = []
  for (const each of wanted) {
    const { line, quantityBefore, requested } = each
    const { quantity: granted, reason } = grants.get(each) as GrantedLine
    const { variantId, metadata } = line
    if (granted < requested) adjustments.push({ variantId, metadata, requested, granted, reason })
    if (granted !== quantityBefore) changed.push({ ...line, quantity: granted })
  }
  return { changed, adjustments }
}

/** Returns the allowed part of `requested`, and the reason why it is not more. */
function allowedQuantity(
  requested: number,
  { stock, rule }: SellableVariantLimits,
  { lineQuantityMax }: CartLimits
): GrantedLine {
  const allowed = Math.min(requested, lineQuantityMax)
  const most = Math.min(allowed, stock ?? allowed)
  const quantity = largestAllowedQuantity(most, rule)
  if (quantity < most) return { quantity, reason: 'quantity_rule' }
  return { quantity, reason: most < allowed ? 'insufficient_stock' : 'quantity_limit' }
}

/** Returns the maximum bytes that all lines of a cart can use: the limit of the cart minus its own metadata. */
export const lineMetadataBytesMaxOf = ({ metadata }: { readonly metadata: Metadata }): number =>
  CUSTOMER_WRITTEN_METADATA_BYTES_MAX - sumMetadataBytes([metadata])
