/** What of an item decides how much of it may be promised. */
export type Item = {
  readonly id: string
  readonly tracked: boolean
  readonly backorder: 'none' | 'limit' | 'any'
  readonly backorderLimit: number | null
  readonly lowThreshold: number | null
}

/** An item at a location. Levels of an item go by priority, then by the location's id: the first is asked first. */
export type Level = {
  readonly itemId: string
  readonly locationId: string
  readonly priority: number
  readonly active: boolean
  /** Below zero when more has left than was known. */
  readonly onHand: number
  readonly reserved: number
  readonly safety: number
  /** The number of its latest movement. */
  readonly seq: number
  readonly sourceVersion: number | null
}

export type Reservation = {
  readonly owner: string
  readonly itemId: string
  readonly locationId: string
  readonly quantity: number
  readonly fulfilled: number
  readonly state: 'held' | 'claimed' | 'confirmed' | 'closed'
  /** Its time to be held is over, and a sweep may close it. */
  readonly isDue: boolean
  /** False while a claim holds the row: what it will be is not known yet. */
  readonly isFree: boolean
}

export type Part = { readonly itemId: string; readonly quantity: number }

/** A line of a basket, with the parts of *one* of its variant: for one that is no kit, itself once. */
export type Need = { readonly variantId: string; readonly quantity: number; readonly parts: readonly Part[] }

/** `home` of the stock is where a fact goes that names no location. */
type Fact = { readonly id: string; readonly actor: string | null; readonly reason: string | null }
export type Reserve = {
  readonly kind: 'reserve'
  readonly id: string
  readonly owner: string
  readonly needs: readonly Need[]
  readonly seconds: number
  /**
   * Units of items that unpaid orders claim, and that this owner may take from them once it has paid. What is short by no more
   * than these is *contested*: the rest is reserved, and the outcome says what is contested. Absent: nothing may be contested.
   */
  readonly contest?: ReadonlyMap<string, number>
}
/** `drop` gives back what is held, `expire` what is held and due. */
export type Drop = {
  readonly kind: 'drop' | 'expire'
  readonly id: string
  readonly owner: string
  readonly itemIds: readonly string[]
}
/** What the owner's order says. Without parts: all that is left. */
export type Request = {
  readonly kind: 'release' | 'ship' | 'return'
  readonly id: string
  readonly owner: string
  readonly parts: readonly Part[] | null
  readonly locationId: string | null
}
/** An owner that may lose what its rows in state `claimed` reserve, but for the units of `keep`. */
export type Victim = { readonly owner: string; readonly keep: readonly Part[] }
/** The owner has paid: these units become its own, free ones first, then those of the victims in their order. All or nothing. */
export type Take = {
  readonly kind: 'take'
  readonly id: string
  readonly owner: string
  readonly parts: readonly Part[]
  readonly victims: readonly Victim[]
}
/** What a shipment of the owner has moved goes back: it never left. */
export type Unship = {
  readonly kind: 'unship'
  readonly id: string
  readonly owner: string
  /** The id of the operation that shipped. */
  readonly shipment: string
}
export type Count = Fact & {
  readonly kind: 'count'
  readonly lines: readonly {
    readonly itemId: string
    readonly locationId: string
    /** Null: as it is. */
    readonly onHand: number | null
    readonly safety: number | null
    readonly sourceVersion: number | null
  }[]
}
export type Adjust = Fact & {
  readonly kind: 'adjust'
  readonly lines: readonly {
    readonly itemId: string
    readonly locationId: string
    readonly delta: number
  }[]
}
export type Operation = Reserve | Drop | Request | Take | Unship | Count | Adjust

export type Outcome =
  /** `contested`: units of its lines that are not reserved. */
  | { readonly kind: 'reserved'; readonly contested: readonly Part[] }
  /** What the victims lost. */
  | {
      readonly kind: 'took'
      readonly lost: readonly { readonly owner: string; readonly parts: readonly Part[] }[]
    }
  | {
      readonly kind: 'short'
      readonly lines: readonly {
        readonly variantId: string
        readonly requested: number
        readonly available: number
      }[]
    }
  /** The owner has other lines already, and they are claimed. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'done' }
  /** There is no such shipment, or it was undone before. */
  | { readonly kind: 'nothing' }
  /** Items whose line was older than what is known, and items of which more is promised than there is. */
  | { readonly kind: 'counted'; readonly stale: readonly string[]; readonly short: readonly string[] }
  /** Not decided: to be asked again with these items locked. */
  | { readonly kind: 'later'; readonly itemIds: readonly string[] }

/**
 * What a batch is decided on. `levels` has an entry for each item whose levels are locked: all of its locations, none
 * when it has none. A level that a count, an adjustment, a return or a shipment may write to is made before.
 */
export type Stock = {
  readonly items: ReadonlyMap<string, Item>
  readonly levels: ReadonlyMap<string, readonly Level[]>
  /** By owner, closed ones too. */
  readonly reservations: ReadonlyMap<string, readonly Reservation[]>
  /** What the shipments that are to be undone have moved, and what of that was undone, by the operation that shipped. */
  readonly shipped: ReadonlyMap<string, readonly Moved[]>
  /** The kits that an item is a part of. */
  readonly kitsOf: ReadonlyMap<string, readonly { readonly variantId: string; readonly quantity: number }[]>
  /** The location of facts about an item that name none. */
  readonly home: string
  /** Items whose first levels were made for these operations: before, nothing could be had of them. */
  readonly opened: ReadonlySet<string>
}

/** A row of a reservation as it is now. `seconds`: held from now for so long; null: as long as before, or not held. */
export type Written = {
  readonly owner: string
  readonly itemId: string
  readonly locationId: string
  readonly quantity: number
  readonly fulfilled: number
  readonly state: Reservation['state']
  readonly seconds: number | null
}

export type Movement = {
  readonly itemId: string
  readonly locationId: string
  readonly seq: number
  readonly kind: 'count' | 'adjust' | 'reserve' | 'release' | 'ship' | 'unship' | 'return' | 'repair'
  readonly onHandDelta: number
  readonly reservedDelta: number
  readonly onHandAfter: number
  readonly reservedAfter: number
  /** How many might be reserved here; null: any number, or a fact that nobody asked. */
  readonly allowedAfter: number | null
  /** The operation's id; of what is undone, that of what it undoes. */
  readonly operation: string
  readonly owner: string | null
  readonly actor: string | null
  readonly reason: string | null
}

/** What is known of the movements of a shipment. */
export type Moved = Pick<
  Movement,
  'itemId' | 'locationId' | 'kind' | 'onHandDelta' | 'reservedDelta' | 'operation' | 'owner'
>

export type Status = 'out' | 'low' | 'in' | 'untracked'

/** These variants, the item itself or kits with it, came to this status by what happened to the item. */
export type Crossing = {
  readonly itemId: string
  readonly variantIds: readonly string[]
  /** Of the item. */
  readonly available: number
  readonly status: Status
}

export type Decided = {
  /** In the order of the operations. */
  readonly outcomes: readonly Outcome[]
  /** The levels that changed, as they are now. */
  readonly levels: readonly Level[]
  readonly inserted: readonly Written[]
  readonly updated: readonly Written[]
  /** Those of a level in their order. */
  readonly movements: readonly Movement[]
  readonly crossings: readonly Crossing[]
  /** Levels with more promised than is there, which no backorder covers, left so by a fact. */
  readonly shortfalls: readonly { readonly itemId: string; readonly locationId: string }[]
}
