/** The stock policy of an item. */
export type InventoryItemStockPolicy = {
  readonly id: string
  readonly tracked: boolean
  readonly backorder: 'none' | 'limit' | 'any'
  readonly backorderLimit: number | null
  readonly lowThreshold: number | null
}

/** An item at a location. Levels are ordered by priority, then by location id. */
export type StockLevel = {
  readonly itemId: string
  readonly locationId: string
  readonly priority: number
  readonly active: boolean
  /** Units on hand at the location. Negative when more units were shipped than counted. */
  readonly onHand: number
  readonly reserved: number
  readonly safety: number
  /** Number of the latest movement of the level. */
  readonly seq: number
  readonly sourceVersion: number | null
}

export type StockReservation = {
  readonly owner: string
  readonly itemId: string
  readonly locationId: string
  readonly quantity: number
  readonly fulfilled: number
  readonly state: 'held' | 'claimed' | 'confirmed' | 'closed'
  /** Whether the held reservation has expired and may be released. */
  readonly isExpired: boolean
  /** Whether the row could be locked. False while a claim has locked it, so that its new state is unknown. */
  readonly isUnlocked: boolean
}

export type InventoryItemQuantity = { readonly itemId: string; readonly quantity: number }

/** A line of a basket with the parts of one unit. The only part of a plain variant is the variant itself. */
export type KitExpandedLine = {
  readonly variantId: string
  readonly quantity: number
  readonly parts: readonly InventoryItemQuantity[]
}

/** Fields of counts and adjustments. */
type RecordedChange = { readonly id: string; readonly actor: string | null; readonly reason: string | null }
export type ReserveStockOperation = {
  readonly kind: 'reserve'
  readonly id: string
  readonly owner: string
  readonly needs: readonly KitExpandedLine[]
  readonly seconds: number
  /**
   * Units per item that unpaid orders claim and this owner may take after payment. A shortage up to this
   * number is contested: the other units are reserved, and the outcome lists the contested ones. Absent: no
   * unit may be contested.
   */
  readonly contest?: ReadonlyMap<string, number>
}
/** `drop` releases held reservations, `expire` only expired ones. */
export type ReleaseHeldStockOperation = {
  readonly kind: 'drop' | 'expire'
  readonly id: string
  readonly owner: string
  readonly itemIds: readonly string[]
}
/** A release, shipment or return of an order's units. Without parts: all remaining units. */
export type OrderStockOperation = {
  readonly kind: 'release' | 'ship' | 'return'
  readonly id: string
  readonly owner: string
  readonly parts: readonly InventoryItemQuantity[] | null
  readonly locationId: string | null
}
/** An owner that may lose its claimed units, except those of `keep`. */
export type PreemptibleReservationOwner = {
  readonly owner: string
  readonly keep: readonly InventoryItemQuantity[]
}
/**
 * Gives contested units to a paid owner: free ones first, then those of the victims in their order. All or
 * nothing.
 */
export type TakeContestedStockOperation = {
  readonly kind: 'take'
  readonly id: string
  readonly owner: string
  readonly parts: readonly InventoryItemQuantity[]
  readonly victims: readonly PreemptibleReservationOwner[]
}
/** Undoes a shipment of the owner. */
export type UndoShipmentStockOperation = {
  readonly kind: 'unship'
  readonly id: string
  readonly owner: string
  /** Id of the operation that shipped the units. */
  readonly shipment: string
}
export type StockCountOperation = RecordedChange & {
  readonly kind: 'count'
  readonly lines: readonly {
    readonly itemId: string
    readonly locationId: string
    /** Null: unchanged. */
    readonly onHand: number | null
    readonly safety: number | null
    readonly sourceVersion: number | null
  }[]
}
export type StockAdjustOperation = RecordedChange & {
  readonly kind: 'adjust'
  readonly lines: readonly {
    readonly itemId: string
    readonly locationId: string
    readonly delta: number
  }[]
}
export type StockOperation =
  | ReserveStockOperation
  | ReleaseHeldStockOperation
  | OrderStockOperation
  | TakeContestedStockOperation
  | UndoShipmentStockOperation
  | StockCountOperation
  | StockAdjustOperation

export type StockOperationOutcome =
  /** `contested`: units of the lines that are not reserved. */
  | { readonly kind: 'reserved'; readonly contested: readonly InventoryItemQuantity[] }
  /** Outcome of a take operation: the units that the victims lost. */
  | {
      readonly kind: 'took'
      readonly lost: readonly { readonly owner: string; readonly parts: readonly InventoryItemQuantity[] }[]
    }
  | {
      readonly kind: 'short'
      readonly lines: readonly {
        readonly variantId: string
        readonly requested: number
        readonly available: number
      }[]
    }
  /** Outcome: rejected, because the owner has claimed other lines. */
  | { readonly kind: 'taken' }
  /** `surplus`: tracked units of a release or shipment that no reservation of the owner covered. */
  | { readonly kind: 'done'; readonly surplus?: readonly InventoryItemQuantity[] }
  /** Outcome: nothing changed, because the shipment does not exist or was voided before. */
  | { readonly kind: 'nothing' }
  /**
   * `stale`: items whose count is older than the recorded one. `short`: items with more reserved than on
   * hand.
   */
  | { readonly kind: 'counted'; readonly stale: readonly string[]; readonly short: readonly string[] }
  /** Outcome: the operation was not decided, and is retried with these items locked. */
  | { readonly kind: 'later'; readonly itemIds: readonly string[] }

/**
 * The locked stock that a batch is decided on. `levels` has an entry for each locked item, with all of its
 * locations. Levels that an operation may write to are created before.
 */
export type LockedStockState = {
  readonly items: ReadonlyMap<string, InventoryItemStockPolicy>
  readonly levels: ReadonlyMap<string, readonly StockLevel[]>
  /** Reservations by owner, including closed ones. */
  readonly reservations: ReadonlyMap<string, readonly StockReservation[]>
  /** Movements of the shipments to undo, and of earlier undoing, by the id of the ship operation. */
  readonly shipped: ReadonlyMap<string, readonly ShipmentStockMovement[]>
  /** Kits by the item that they contain. */
  readonly kitsOf: ReadonlyMap<string, readonly { readonly variantId: string; readonly quantity: number }[]>
  /** Default location of operations that name none. */
  readonly home: string
  /** Items whose first levels were created for this batch: before, nothing of them was available. */
  readonly newItems: ReadonlySet<string>
}

/** New values of a reservation. `seconds`: hold time from now; null: unchanged, or not held. */
export type StockReservationValues = {
  readonly owner: string
  readonly itemId: string
  readonly locationId: string
  readonly quantity: number
  readonly fulfilled: number
  readonly state: StockReservation['state']
  readonly seconds: number | null
}

export type StockMovement = {
  readonly itemId: string
  readonly locationId: string
  readonly seq: number
  readonly kind:
    | 'balance'
    | 'count'
    | 'adjust'
    | 'reserve'
    | 'release'
    | 'ship'
    | 'unship'
    | 'return'
    | 'repair'
  readonly onHandDelta: number
  readonly reservedDelta: number
  readonly onHandAfter: number
  readonly reservedAfter: number
  /** Maximum reserved units at the level; null: unlimited, or an operation that is never refused. */
  readonly allowedAfter: number | null
  /** Id of the operation; for `unship`, of the ship operation. */
  readonly operation: string
  readonly owner: string | null
  readonly actor: string | null
  readonly reason: string | null
}

/** A movement of a shipment or of its undoing. */
export type ShipmentStockMovement = Pick<
  StockMovement,
  'itemId' | 'locationId' | 'kind' | 'onHandDelta' | 'reservedDelta' | 'operation' | 'owner'
>

export type StockStatus = 'out' | 'low' | 'in' | 'untracked'

/** Status change of variants (the item or its kits) because the item's stock changed. */
export type StockStatusChange = {
  readonly itemId: string
  readonly variantIds: readonly string[]
  /** Available units of the item after the change. */
  readonly available: number
  readonly status: StockStatus
}

export type StockBatchDecision = {
  /** The outcomes, in the order of the operations. */
  readonly outcomes: readonly StockOperationOutcome[]
  /** New values of the changed levels. */
  readonly levels: readonly StockLevel[]
  readonly inserted: readonly StockReservationValues[]
  readonly updated: readonly StockReservationValues[]
  /** Ordered per level. */
  readonly movements: readonly StockMovement[]
  readonly statusChanges: readonly StockStatusChange[]
  /**
   * Levels that an unrefusable operation left with more reserved than on hand, beyond the backorder limit.
   */
  readonly shortfalls: readonly { readonly itemId: string; readonly locationId: string }[]
}
