import { expect, test } from 'vitest'
import { sellableAt, sumOf } from '../../src/modules/inventory/stock/availability.ts'
import { BRANCHES, type Branch } from '../../src/modules/inventory/stock/branches.ts'
import { RULES } from '../../src/modules/inventory/stock/decide.ts'
import { historyOf } from './stock-histories.ts'
import { live } from './stock-replay.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 3_000)
/** Each case of a decision is met so often, out of a million histories. */
const MET_PER_MILLION = 1_000

/** The first history in which the program is not what the model says, as a text; none: undefined. */
function findDifference(
  histories: number,
  rules = RULES,
  note: (branch: Branch) => void = () => {}
): string | undefined {
  for (let seed = 1; seed <= histories; seed++)
    try {
      live(historyOf(seed), note, rules)
    } catch (error) {
      return `history ${seed}: ${error instanceof Error ? error.message : error}\n${JSON.stringify(historyOf(seed))}`
    }
  return undefined
}

test(`decisions are those of the naive model, over ${HISTORIES} histories`, { timeout: 3_600_000 }, () => {
  const met = new Map<Branch, number>(BRANCHES.map(branch => [branch, 0]))
  const note = (branch: Branch) => met.set(branch, (met.get(branch) ?? 0) + 1)
  expect(findDifference(HISTORIES, RULES, note)).toBeUndefined()
  if (process.env.HISTORIES !== undefined) console.table(Object.fromEntries(met))
  const least = Math.ceil((MET_PER_MILLION * HISTORIES) / 1_000_000)
  expect([...met].filter(([, times]) => times < least)).toEqual([])
})

const FAULTS: Record<string, Partial<typeof RULES>> = {
  'an owner who has anything is told that it is reserved': { isSame: rows => rows.length > 0 },
  'what was closed answers for its owner still': { answering: rows => rows },
  'what was given back is given back once more': { standing: rows => rows },
  'the sweep closes what is claimed': { isToClose: (_, row) => row.state !== 'closed' },
  'the backorder limit is one for each location': {
    availableOf: (item, levels) =>
      item?.tracked && item.backorder === 'limit'
        ? sumOf(RULES.sellingOf(levels), level =>
            Math.max(0, sellableAt(level) + (item.backorderLimit ?? 0) - level.reserved)
          )
        : RULES.availableOf(item, levels)
  },
  'a location that is not active sells': { sellingOf: levels => levels },
  'a kit is counted by an item of its own': {
    partsOf: need => [{ itemId: need.variantId, quantity: 1 }]
  },
  'lines are replaced and the old ones not given back': { replaced: () => [] },
  'what waits elsewhere does not count against the limit': {
    allowedAt: (item, _, level) => RULES.allowedAt(item, [level], level)
  },
  'a count that comes late is taken': { isStale: () => false },
  'units are contested that nobody may take': { contestable: () => Number.POSITIVE_INFINITY },
  'units that are paid are taken': {
    isTakeable: row => row.state === 'claimed' || row.state === 'confirmed'
  },
  'a victim loses what it keeps': { keptOf: () => 0 },
  'a shipment is undone once more': { isUndone: () => false },
  'what was given back of a row is reserved again with what never left': { promised: row => row.quantity }
}

test.each(Object.entries(FAULTS))('it would be seen: %s', (_, fault) => {
  expect(findDifference(2_000, { ...RULES, ...fault })).toBeDefined()
})
