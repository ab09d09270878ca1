// The stock of the naive model, the operations on it, and their results.

export type ModelItem = {
  id: string
  isTracked: boolean
  backorder: 'none' | 'limit' | 'any'
  backorderLimit: number
  lowThreshold: number | null
}
export type ModelLevel = {
  item: string
  place: string
  onHand: number
  reserved: number
  safety: number
  seq: number
  version: number | null
}
export type ModelReservation = {
  owner: string
  item: string
  place: string
  quantity: number
  fulfilled: number
  state: 'held' | 'claimed' | 'confirmed' | 'closed'
  isDue: boolean
  /** A claim has locked this row. */
  isLocked: boolean
}
export type ModelStock = {
  items: ModelItem[]
  kits: { variant: string; item: string; quantity: number }[]
  /** In the order of their priority. */
  locations: { id: string; active: boolean }[]
  home: string
  levels: ModelLevel[]
  reservations: ModelReservation[]
  /** Shipped units whose shipment was not voided. */
  shippedUnits: {
    shipment: string
    owner: string
    item: string
    place: string
    quantity: number
    promised: number
  }[]
  /** Items that another transaction has locked. */
  locked: string[]
  /** Items that had no level before the operations that are done now. */
  itemsWithoutLevel: string[]
}
export type StockMovement = {
  item: string
  place: string
  seq: number
  kind: string
  onHand: number
  reserved: number
  onHandDelta: number
  reservedDelta: number
  allowed: number | null
  operation: string
}
export type StockLine = { item: string; quantity: number }
type StockCount = {
  item: string
  place: string
  onHand: number | null
  safety: number | null
  version: number | null
}
export type ModelOperation =
  | {
      verb: 'reserve'
      id: string
      owner: string
      basket: { variant: string; quantity: number }[]
      /** Units that may be contested, by item; null: none. */
      contest: Record<string, number> | null
    }
  | {
      verb: 'take'
      id: string
      owner: string
      lines: StockLine[]
      /** `keep`: what they never lose. */
      victims: { owner: string; keep: StockLine[] }[]
    }
  | { verb: 'drop'; id: string; owner: string }
  | { verb: 'expire'; id: string; owner: string }
  | {
      verb: 'release' | 'ship' | 'return'
      id: string
      owner: string
      lines: StockLine[] | null
      place: string | null
    }
  | { verb: 'unship'; id: string; owner: string; shipment: string }
  | { verb: 'count'; id: string; lines: StockCount[] }
  | { verb: 'adjust'; id: string; lines: { item: string; place: string; delta: number }[] }
export type OperationResult =
  | { kind: 'taken' | 'done' | 'nothing' }
  | { kind: 'reserved'; contested: StockLine[] }
  | { kind: 'took'; lost: { owner: string; lines: StockLine[] }[] }
  | { kind: 'short'; lines: { variant: string; requested: number; available: number }[] }
  | { kind: 'counted'; stale: string[]; short: string[] }
  | { kind: 'later'; items: string[] }
export type StockReport = {
  results: OperationResult[]
  moves: StockMovement[]
  /** `item>variant:status` */
  crossings: string[]
  /** `item@place` */
  shortfalls: string[]
}
