import type { PromotionRejection } from './findings.ts'
import type { QuoteRules } from './input.ts'

/** Normalizes a code for comparison: case, full-width letters, ligatures and spaces. */
export const normalizePromotionCode = (code: string): string =>
  code.normalize('NFKC').toUpperCase().normalize('NFKC').trim()

/** An entered code with its promotion, or why it has none. */
export type EnteredPromotionCode = {
  readonly code: string
  readonly promotionId?: string
  readonly problem?: PromotionRejection
}

/** Resolves each distinct code, sorted, so that the input order has no effect. */
export const resolvePromotionCodes = (codes: readonly string[], rules: QuoteRules): EnteredPromotionCode[] =>
  [...new Set(codes.map(normalizePromotionCode))].sort().map((code): EnteredPromotionCode => {
    const known = rules.codes.get(code)
    if (known === undefined) return { code, problem: { code: 'CODE_UNKNOWN' } }
    if (known.usesLeft !== null && known.usesLeft <= 0) return { code, problem: { code: 'CODE_USED_UP' } }
    return { code, promotionId: known.promotionId }
  })
