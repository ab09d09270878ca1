import { expect, test } from 'vitest'
import { sumBy } from '../../src/kernel/sum-by.ts'
import { sellableUnitsAtLevel } from '../../src/modules/inventory/decisions/availability.ts'
import {
  STOCK_DECISION_BRANCHES,
  type StockDecisionBranch
} from '../../src/modules/inventory/decisions/branches.ts'
import { STOCK_DECISION_RULES } from '../../src/modules/inventory/decisions/decide.ts'
import { createHistory } from './stock-histories.ts'
import { live } from './stock-replay.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 3_000)
/** How often each case of a decision must occur in a million histories. */
const MET_PER_MILLION = 1_000

/** Returns the first history in which the program differs from the model, as text, or undefined. */
function findDifference(
  histories: number,
  rules = STOCK_DECISION_RULES,
  note: (branch: StockDecisionBranch) => void = () => {}
): string | undefined {
  for (let seed = 1; seed <= histories; seed++)
    try {
      live(createHistory(seed), note, rules)
    } catch (error) {
      return `history ${seed}: ${error instanceof Error ? error.message : error}\n${JSON.stringify(createHistory(seed))}`
    }
  return undefined
}

test(`stock decisions match the naive model over ${HISTORIES} histories`, { timeout: 3_600_000 }, () => {
  const met = new Map<StockDecisionBranch, number>(STOCK_DECISION_BRANCHES.map(branch => [branch, 0]))
  const note = (branch: StockDecisionBranch) => met.set(branch, (met.get(branch) ?? 0) + 1)
  expect(findDifference(HISTORIES, STOCK_DECISION_RULES, note)).toBeUndefined()
  if (process.env.HISTORIES !== undefined) console.table(Object.fromEntries(met))
  const least = Math.ceil((MET_PER_MILLION * HISTORIES) / 1_000_000)
  expect([...met].filter(([, times]) => times < least)).toEqual([])
})

const FAULTS: Record<string, Partial<typeof STOCK_DECISION_RULES>> = {
  'an owner with any row gets "already reserved"': { isSame: rows => rows.length > 0 },
  'a closed row still counts for its owner': { currentRows: rows => rows },
  'released units are released again': { openRows: rows => rows },
  'the expiry closes claimed rows': { isToClose: (_, row) => row.state !== 'closed' },
  'the backorder limit applies to each location': {
    availableOf: (item, levels) =>
      item?.tracked && item.backorder === 'limit'
        ? sumBy(STOCK_DECISION_RULES.sellingOf(levels), level =>
            Math.max(0, sellableUnitsAtLevel(level) + (item.backorderLimit ?? 0) - level.reserved)
          )
        : STOCK_DECISION_RULES.availableOf(item, levels)
  },
  'a location that is not active sells': { sellingOf: levels => levels },
  'a kit has its own level instead of its parts': {
    partsOf: need => [{ itemId: need.variantId, quantity: 1 }]
  },
  'replaced lines are not released': { replacedRows: () => [] },
  'backorders at other locations do not count against the limit': {
    allowedAt: (item, _, level) => STOCK_DECISION_RULES.allowedAt(item, [level], level)
  },
  'a stale count is applied': { isStale: () => false },
  'units that no owner may take are contested': { contestableUnits: () => Number.POSITIVE_INFINITY },
  'paid units are taken': {
    isTakeable: row => row.state === 'claimed' || row.state === 'confirmed'
  },
  'a victim loses units that it may keep': { keptUnits: () => 0 },
  'a shipment is undone twice': { isUndone: () => false },
  'released units of a row are reserved again with voided ones': {
    reservedAtClose: row => row.quantity
  }
}

test.each(Object.entries(FAULTS))('the naive stock model detects a fault in the rules: %s', (_, fault) => {
  expect(findDifference(2_000, { ...STOCK_DECISION_RULES, ...fault })).toBeDefined()
})
