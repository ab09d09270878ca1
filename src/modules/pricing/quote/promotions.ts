import { type EnteredPromotionCode, resolvePromotionCodes } from './codes.ts'
import type { PriceComponent } from './components.ts'
import { createPromotionLineMatcher, findPromotionRejection } from './conditions.ts'
import { discountPerTarget, discountWithoutOtherPromotions } from './effects.ts'
import {
  createPromotionCodeFinding,
  type PromotionCodeFinding,
  type PromotionCodeFindingCode,
  type PromotionRejection
} from './findings.ts'
import type { Promotion, PromotionClass, QuoteInput, QuoteRules } from './input.ts'
import { PROMOTIONS_PER_LINE_OR_DELIVERY_MAX } from './size-limits.ts'
import type {
  ChosenDeliveryDiscountTarget,
  DiscountTargetLine,
  LineOrDeliveryDiscountTarget
} from './targets.ts'

/** One use of a promotion and its code by an order. */
export type PromotionRedemption = {
  readonly promotionId: string
  readonly code?: string
  /**
   * Whether the promotion or the code has a usage limit, and so a contended counter; absent when neither has.
   */
  readonly limited?: 'promotion' | 'code'
}

/** An applicable promotion and its matching lines. */
type Candidate = { readonly promotion: Promotion; readonly matching: readonly DiscountTargetLine[] }
/** A candidate with its targets, and its discount if it were the only promotion. */
type Offer = {
  readonly candidate: Candidate
  readonly targets: readonly LineOrDeliveryDiscountTarget[]
  readonly alone: number
}

/** Applies promotions class by class, each on the prices that earlier ones left. */
export function createPromotionApplier(input: QuoteInput, lines: readonly DiscountTargetLine[]) {
  const { currency } = input.market
  const enteredCodes = resolvePromotionCodes(input.codes, input.rules)
  const codeOf = firstCodes(enteredCodes)
  /** The reason why a promotion was not applied, by the promotion's id. */
  const rejections = new Map<string, PromotionRejection>()
  const candidates = findCandidates(input, lines, codeOf, rejections)
  const applied: Promotion[] = []

  /** Applies the promotions of a class. `noEffectOf` returns the code for a promotion without effect. */
  function applyClass(
    of: PromotionClass,
    targetsOf: (candidate: Candidate) => readonly LineOrDeliveryDiscountTarget[],
    noEffectOf: (candidate: Candidate) => PromotionCodeFindingCode = () => 'CODE_NO_EFFECT'
  ): PriceComponent[] {
    const offers = candidates
      .filter(({ promotion }) => promotion.class === of)
      .map((candidate): Offer => {
        const targets = targetsOf(candidate)
        const { promotion } = candidate
        return { candidate, targets, alone: discountWithoutOtherPromotions(promotion, currency, targets) }
      })
    return offers.sort(byRank).flatMap(({ candidate, targets, alone }) => {
      const { promotion } = candidate
      const conflicts = alone === 0 ? [] : applied.filter(each => !canCombine(each, promotion))
      const components = conflicts.length > 0 ? [] : applyDiscount(promotion, currency, codeOf, targets)
      if (components.length > 0) applied.push(promotion)
      else
        rejections.set(
          promotion.id,
          conflicts.length > 0 ? notCombinable(conflicts) : { code: noEffectOf(candidate) }
        )
      return components
    })
  }

  function rejectionOf({
    code,
    promotionId = '',
    problem
  }: EnteredPromotionCode): PromotionRejection | undefined {
    const promotion = applied.find(each => each.id === promotionId)
    if (promotion === undefined) return problem ?? rejections.get(promotionId) ?? { code: 'CODE_UNKNOWN' }
    return codeOf.get(promotionId) === code ? undefined : notCombinable([promotion])
  }

  return {
    applyLinePromotions: () => applyClass('line', candidate => candidate.matching),
    applyOrderPromotions: () => applyClass('order', candidate => candidate.matching),
    /** Shipping promotions apply to each delivery with a matching line and an allowed method. */
    applyShippingPromotions(
      deliveries: readonly ChosenDeliveryDiscountTarget[],
      noEffect: PromotionCodeFindingCode
    ): PriceComponent[] {
      const carriedOf = ({ matching }: Candidate) => {
        const groups = new Set(matching.map(target => target.group))
        return deliveries.filter(delivery => groups.has(delivery.group))
      }
      const fittingOf = (candidate: Candidate) =>
        carriedOf(candidate).filter(delivery => fitsDelivery(candidate.promotion, delivery))
      return applyClass('shipping', fittingOf, candidate =>
        carriedOf(candidate).some(delivery => !fitsDelivery(candidate.promotion, delivery))
          ? 'CODE_NOT_FOR_SHIPPING_METHOD'
          : noEffect
      )
    },
    /** Returns a finding with the reason for each code without effect. */
    findings: (): PromotionCodeFinding[] =>
      enteredCodes.flatMap(each => {
        const problem = rejectionOf(each)
        return problem === undefined ? [] : [createPromotionCodeFinding(each.code, problem)]
      }),
    redemptions: (): PromotionRedemption[] =>
      applied
        .map(promotion => redemptionOf(promotion, codeOf.get(promotion.id), input.rules))
        .sort((a, b) => (a.promotionId < b.promotionId ? -1 : 1))
  }
}

const fitsDelivery = (
  { shippingMethodIds, cheapestOnly }: Promotion,
  { option: { methodId }, isCheapest }: ChosenDeliveryDiscountTarget
): boolean =>
  (isCheapest || !cheapestOnly) &&
  (shippingMethodIds === null || (methodId !== null && shippingMethodIds.has(methodId)))

type CodeOf = ReadonlyMap<string, string>

/** Maps each promotion to the first code that was entered for it. */
function firstCodes(entered: readonly EnteredPromotionCode[]): CodeOf {
  const codeOf = new Map<string, string>()
  for (const { code, promotionId } of entered)
    if (promotionId !== undefined && !codeOf.has(promotionId)) codeOf.set(promotionId, code)
  return codeOf
}

function redemptionOf(
  { id: promotionId, usesLeft }: Promotion,
  code: string | undefined,
  { codes }: QuoteRules
): PromotionRedemption {
  const limited = { limited: 'promotion' } as const
  if (code === undefined) return { promotionId, ...(usesLeft !== null && limited) }
  if (usesLeft !== null) return { promotionId, code, ...limited }
  const codeUsesLeft = codes.get(code)?.usesLeft ?? null
  return { promotionId, code, ...(codeUsesLeft !== null && { limited: 'code' }) }
}

/** Returns the applicable promotions; `rejections` gets the reasons of the others. */
function findCandidates(
  input: QuoteInput,
  lines: readonly DiscountTargetLine[],
  codeOf: CodeOf,
  problems: Map<string, PromotionRejection>
): Candidate[] {
  const matchingOf = createPromotionLineMatcher(lines)
  return input.rules.promotions.flatMap((promotion): Candidate[] => {
    if (promotion.needsCode && !codeOf.has(promotion.id)) return []
    const matching = matchingOf(promotion)
    const problem = findPromotionRejection(promotion, input, matching)
    if (problem === undefined) return [{ promotion, matching }]
    problems.set(promotion.id, problem)
    return []
  })
}

/** Compares promotions by priority, then by larger saving, then by id. */
const byRank = (a: Offer, b: Offer): number =>
  b.candidate.promotion.priority - a.candidate.promotion.priority ||
  b.alone - a.alone ||
  (a.candidate.promotion.id < b.candidate.promotion.id ? -1 : 1)

const canCombine = (one: Promotion, other: Promotion): boolean =>
  one.combines.includes(other.class) && other.combines.includes(one.class)

const notCombinable = (conflicts: readonly Promotion[]): PromotionRejection => ({
  code: 'CODE_NOT_COMBINABLE',
  conflictsWith: conflicts.map(({ id, name }) => ({ id, name }))
})

function applyDiscount(
  promotion: Promotion,
  currency: string,
  codeOf: CodeOf,
  targets: readonly LineOrDeliveryDiscountTarget[]
): PriceComponent[] {
  const open = targets.filter(target => target.promotions < PROMOTIONS_PER_LINE_OR_DELIVERY_MAX)
  const kind = promotion.class === 'shipping' ? 'shipping_discount' : 'discount'
  const code = codeOf.get(promotion.id)
  const components: PriceComponent[] = []
  for (const [index, saving] of discountPerTarget(promotion, currency, open).entries()) {
    const target = open[index]
    if (target === undefined || saving === 0) continue
    target.leftMinor -= saving
    target.promotions += 1
    const source = { ...target.key, promotion: promotion.id }
    const component: PriceComponent = { ...source, kind, amountMinor: -saving, included: false }
    components.push(code === undefined ? component : { ...component, code })
  }
  return components
}
