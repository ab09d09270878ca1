import { type Entered, readCodes } from './codes.ts'
import { type Component, sumOf } from './components.ts'
import { findProblem, matches } from './conditions.ts'
import { savingsOf } from './effects.ts'
import { type CodeFinding, type CodeProblem, codeFinding, type Problem } from './findings.ts'
import type { Promotion, PromotionClass, QuoteInput } from './input.ts'
import type { DeliveryTarget, LineTarget, Target } from './targets.ts'

/** A use of a promotion that the order has to pay for with its counters. */
export type Redemption = { readonly promotionId: string; readonly code?: string }

/** A promotion that might be taken. */
type Candidate = { readonly promotion: Promotion; readonly matching: readonly LineTarget[] }

/** Promotions as they are taken: class by class, each on what those before it left. */
export function openPromotions(input: QuoteInput, lines: readonly LineTarget[]) {
  const { market, rules } = input
  const entered = readCodes(input.codes, rules)
  const codeOf = firstCodes(entered)
  const taken: Promotion[] = []
  /** Why a promotion was not taken, by its id. */
  const problems = new Map<string, Problem>()

  const candidates: Candidate[] = []
  for (const promotion of rules.promotions) {
    if (promotion.needsCode && !codeOf.has(promotion.id)) continue
    const matching = lines.filter(({ line }) => matches(promotion, line))
    const problem = findProblem(promotion, input, matching)
    if (problem === undefined) candidates.push({ promotion, matching })
    else problems.set(promotion.id, problem)
  }

  const savingsOn = (promotion: Promotion, targets: readonly Target[], amount: 'fullMinor' | 'leftMinor') =>
    savingsOf(
      promotion,
      market.currency,
      targets.map(target => target[amount]),
      targets.map(target => target.units)
    )

  /** Takes what may be taken of a class, which lessens the targets. `noEffect` is said of what would take nothing off. */
  function take<T extends Target>(
    of: PromotionClass,
    targetsOf: (candidate: Candidate) => readonly T[],
    noEffect: CodeProblem = 'CODE_NO_EFFECT'
  ): Component[] {
    const components: Component[] = []
    const ranked = candidates
      .filter(({ promotion }) => promotion.class === of)
      .map(candidate => {
        const targets = targetsOf(candidate)
        const alone = sumOf(savingsOn(candidate.promotion, targets, 'fullMinor'), each => each)
        return { promotion: candidate.promotion, targets, alone }
      })
      .sort((a, b) => byRank(a.promotion, b.promotion, b.alone - a.alone))
    for (const { promotion, targets, alone } of ranked) {
      const conflicts = taken.filter(each => !combine(each, promotion))
      const savings = conflicts.length > 0 ? [] : savingsOn(promotion, targets, 'leftMinor')
      if (alone > 0 && conflicts.length > 0) problems.set(promotion.id, notCombinable(conflicts))
      else if (savings.every(saving => saving === 0)) problems.set(promotion.id, { code: noEffect })
      else {
        taken.push(promotion)
        components.push(...takeOff(promotion, codeOf.get(promotion.id), targets, savings))
      }
    }
    return components
  }

  const problemOf = ({ code, promotionId = '', problem }: Entered): Problem | undefined => {
    const known = problem ?? problems.get(promotionId)
    const promotion = taken.find(each => each.id === promotionId)
    if (known !== undefined || promotion === undefined) return known ?? { code: 'CODE_UNKNOWN' }
    return codeOf.get(promotionId) === code ? undefined : notCombinable([promotion])
  }

  return {
    takeLine: () => take('line', candidate => candidate.matching),
    takeOrder: () => take('order', candidate => candidate.matching),
    /** Deliveries match that carry a line that does. */
    takeShipping: (deliveries: readonly DeliveryTarget[], noEffect: CodeProblem) =>
      take(
        'shipping',
        ({ matching }) =>
          deliveries.filter(delivery => matching.some(({ group }) => group === delivery.group)),
        noEffect
      ),
    /** Of each code that has no effect, why. */
    findings: (): CodeFinding[] =>
      entered.flatMap(each => {
        const problem = problemOf(each)
        return problem === undefined ? [] : [codeFinding(each.code, problem)]
      }),
    redemptions: (): Redemption[] =>
      taken
        .map(({ id: promotionId }) => ({ promotionId, ...codeIn(codeOf.get(promotionId)) }))
        .sort((a, b) => (a.promotionId < b.promotionId ? -1 : 1))
  }
}

/** The code that a promotion is taken by: of several, the first. */
function firstCodes(entered: readonly Entered[]): Map<string, string> {
  const codeOf = new Map<string, string>()
  for (const { code, promotionId } of entered)
    if (promotionId !== undefined && !codeOf.has(promotionId)) codeOf.set(promotionId, code)
  return codeOf
}

const combine = (one: Promotion, other: Promotion): boolean =>
  one.combines.includes(other.class) && other.combines.includes(one.class)

/** By priority, then by what saves more, then by id. */
const byRank = (a: Promotion, b: Promotion, bySaving: number): number =>
  b.priority - a.priority || bySaving || (a.id < b.id ? -1 : 1)

const notCombinable = (conflicts: readonly Promotion[]): Problem => ({
  code: 'CODE_NOT_COMBINABLE',
  conflictsWith: conflicts.map(({ id, name }) => ({ id, name }))
})

const codeIn = (code: string | undefined) => (code === undefined ? {} : { code })

function takeOff(
  promotion: Promotion,
  code: string | undefined,
  targets: readonly Target[],
  savings: readonly number[]
): Component[] {
  const kind = promotion.class === 'shipping' ? 'shipping_discount' : 'discount'
  return targets.flatMap((target, index): Component[] => {
    const saving = savings[index] ?? 0
    if (saving === 0) return []
    target.leftMinor -= saving
    const source = { promotion: promotion.id, ...codeIn(code) }
    return [{ kind, ...target.of, ...source, amountMinor: -saving, included: false }]
  })
}
