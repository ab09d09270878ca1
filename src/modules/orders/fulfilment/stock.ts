import type { StockLine } from '../../inventory/index.ts'
import type { Hand } from '../changes/service.ts'
import type { Units } from '../life/counters.ts'

/** The same units, as the inventory knows them. */
export const stockLinesOf = ({ lines }: Hand, units: readonly Units[]): StockLine[] =>
  units.map(({ line, quantity }) => {
    const variantId = lines.find(each => each.line === line)?.variantId
    if (variantId === undefined) throw new Error(`the order has no line ${line}`)
    return { variantId, quantity }
  })
