import { type Entered, readCodes } from './codes.ts'
import type { Component } from './components.ts'
import { findProblem, openMatching } from './conditions.ts'
import { savingAlone, savingsOf } from './effects.ts'
import { type CodeFinding, type CodeProblem, codeFinding, type Problem } from './findings.ts'
import type { Promotion, PromotionClass, QuoteInput, QuoteRules } from './input.ts'
import { PROMOTIONS_OF_ONE_MAX } from './limits.ts'
import type { DeliveryTarget, LineTarget, Target } from './targets.ts'

/** What an order uses up of a promotion, and of the code that it was asked for by. */
export type Redemption = {
  readonly promotionId: string
  readonly code?: string
  /** What of both has a limit, so that many may want the same few uses; left out where nothing has. */
  readonly limited?: 'promotion' | 'code'
}

/** A promotion that nothing forbids, and the lines that match it. */
type Candidate = { readonly promotion: Promotion; readonly matching: readonly LineTarget[] }
/** What it would take something off, and how much if it were the only one. */
type Offer = { readonly candidate: Candidate; readonly targets: readonly Target[]; readonly alone: number }

/** Promotions as they are taken: class by class, each on what those before it left. */
export function openPromotions(input: QuoteInput, lines: readonly LineTarget[]) {
  const { currency } = input.market
  const entered = readCodes(input.codes, input.rules)
  const codeOf = firstCodes(entered)
  /** Why a promotion was not taken, by its id. */
  const problems = new Map<string, Problem>()
  const candidates = findCandidates(input, lines, codeOf, problems)
  const taken: Promotion[] = []

  /** Takes what may be taken of a class; `noEffectOf` names the problem of a promotion that would take nothing off. */
  function take(
    of: PromotionClass,
    targetsOf: (candidate: Candidate) => readonly Target[],
    noEffectOf: (candidate: Candidate) => CodeProblem = () => 'CODE_NO_EFFECT'
  ): Component[] {
    const offers = candidates
      .filter(({ promotion }) => promotion.class === of)
      .map((candidate): Offer => {
        const targets = targetsOf(candidate)
        const { promotion } = candidate
        return { candidate, targets, alone: savingAlone(promotion, currency, targets) }
      })
    return offers.sort(byRank).flatMap(({ candidate, targets, alone }) => {
      const { promotion } = candidate
      const conflicts = alone === 0 ? [] : taken.filter(each => !combine(each, promotion))
      const components = conflicts.length > 0 ? [] : takeOff(promotion, currency, codeOf, targets)
      if (components.length > 0) taken.push(promotion)
      else
        problems.set(
          promotion.id,
          conflicts.length > 0 ? notCombinable(conflicts) : { code: noEffectOf(candidate) }
        )
      return components
    })
  }

  function problemOf({ code, promotionId = '', problem }: Entered): Problem | undefined {
    const promotion = taken.find(each => each.id === promotionId)
    if (promotion === undefined) return problem ?? problems.get(promotionId) ?? { code: 'CODE_UNKNOWN' }
    return codeOf.get(promotionId) === code ? undefined : notCombinable([promotion])
  }

  return {
    takeLine: () => take('line', candidate => candidate.matching),
    takeOrder: () => take('order', candidate => candidate.matching),
    /** Those of deliveries hold for each that carries a matching line by a method that the promotion is for. */
    takeShipping(deliveries: readonly DeliveryTarget[], noEffect: CodeProblem): Component[] {
      const carriedOf = ({ matching }: Candidate) => {
        const groups = new Set(matching.map(target => target.group))
        return deliveries.filter(delivery => groups.has(delivery.group))
      }
      const fittingOf = (candidate: Candidate) =>
        carriedOf(candidate).filter(delivery => fitsDelivery(candidate.promotion, delivery))
      return take('shipping', fittingOf, candidate =>
        carriedOf(candidate).some(delivery => !fitsDelivery(candidate.promotion, delivery))
          ? 'CODE_NOT_FOR_SHIPPING_METHOD'
          : noEffect
      )
    },
    /** Of each code that has no effect, why. */
    findings: (): CodeFinding[] =>
      entered.flatMap(each => {
        const problem = problemOf(each)
        return problem === undefined ? [] : [codeFinding(each.code, problem)]
      }),
    redemptions: (): Redemption[] =>
      taken
        .map(promotion => redemptionOf(promotion, codeOf.get(promotion.id), input.rules))
        .sort((a, b) => (a.promotionId < b.promotionId ? -1 : 1))
  }
}

const fitsDelivery = (
  { shippingMethodIds, cheapestOnly }: Promotion,
  { option: { methodId }, isCheapest }: DeliveryTarget
): boolean =>
  (isCheapest || !cheapestOnly) &&
  (shippingMethodIds === null || (methodId !== null && shippingMethodIds.has(methodId)))

type CodeOf = ReadonlyMap<string, string>

/** The code that each promotion is asked for by: of several, the first. */
function firstCodes(entered: readonly Entered[]): CodeOf {
  const codeOf = new Map<string, string>()
  for (const { code, promotionId } of entered)
    if (promotionId !== undefined && !codeOf.has(promotionId)) codeOf.set(promotionId, code)
  return codeOf
}

function redemptionOf(
  { id: promotionId, usesLeft }: Promotion,
  code: string | undefined,
  { codes }: QuoteRules
): Redemption {
  const limited = { limited: 'promotion' } as const
  if (code === undefined) return { promotionId, ...(usesLeft !== null && limited) }
  if (usesLeft !== null) return { promotionId, code, ...limited }
  const codeUsesLeft = codes.get(code)?.usesLeft ?? null
  return { promotionId, code, ...(codeUsesLeft !== null && { limited: 'code' }) }
}

/** What forbids the others goes to `problems`. */
function findCandidates(
  input: QuoteInput,
  lines: readonly LineTarget[],
  codeOf: CodeOf,
  problems: Map<string, Problem>
): Candidate[] {
  const matchingOf = openMatching(lines)
  return input.rules.promotions.flatMap((promotion): Candidate[] => {
    if (promotion.needsCode && !codeOf.has(promotion.id)) return []
    const matching = matchingOf(promotion)
    const problem = findProblem(promotion, input, matching)
    if (problem === undefined) return [{ promotion, matching }]
    problems.set(promotion.id, problem)
    return []
  })
}

/** By priority, then by what saves more, then by id. */
const byRank = (a: Offer, b: Offer): number =>
  b.candidate.promotion.priority - a.candidate.promotion.priority ||
  b.alone - a.alone ||
  (a.candidate.promotion.id < b.candidate.promotion.id ? -1 : 1)

const combine = (one: Promotion, other: Promotion): boolean =>
  one.combines.includes(other.class) && other.combines.includes(one.class)

const notCombinable = (conflicts: readonly Promotion[]): Problem => ({
  code: 'CODE_NOT_COMBINABLE',
  conflictsWith: conflicts.map(({ id, name }) => ({ id, name }))
})

function takeOff(
  promotion: Promotion,
  currency: string,
  codeOf: CodeOf,
  targets: readonly Target[]
): Component[] {
  const open = targets.filter(target => target.promotions < PROMOTIONS_OF_ONE_MAX)
  const kind = promotion.class === 'shipping' ? 'shipping_discount' : 'discount'
  const code = codeOf.get(promotion.id)
  const components: Component[] = []
  for (const [index, saving] of savingsOf(promotion, currency, open).entries()) {
    const target = open[index]
    if (target === undefined || saving === 0) continue
    target.leftMinor -= saving
    target.promotions += 1
    const source = { ...target.of, promotion: promotion.id }
    const component: Component = { ...source, kind, amountMinor: -saving, included: false }
    components.push(code === undefined ? component : { ...component, code })
  }
  return components
}
