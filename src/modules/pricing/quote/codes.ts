import type { CodeRejection } from './findings.ts'
import type { QuoteRules } from './input.ts'

/** Normalizes a code for comparison: case, full-width letters, ligatures and spaces. */
export const normalizeCode = (code: string): string =>
  code.normalize('NFKC').toUpperCase().normalize('NFKC').trim()

/** An entered code with its promotion, or why it has none. */
export type EnteredCode = {
  readonly code: string
  readonly promotionId?: string
  readonly problem?: CodeRejection
}

/** Resolves each distinct code, sorted, so that the input order has no effect. */
export const resolveCodes = (codes: readonly string[], rules: QuoteRules): EnteredCode[] =>
  [...new Set(codes.map(normalizeCode))].sort().map((code): EnteredCode => {
    const known = rules.codes.get(code)
    if (known === undefined) return { code, problem: { code: 'CODE_UNKNOWN' } }
    if (known.usesLeft !== null && known.usesLeft <= 0) return { code, problem: { code: 'CODE_USED_UP' } }
    return { code, promotionId: known.promotionId }
  })
