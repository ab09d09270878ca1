import type { Problem } from './findings.ts'
import type { QuoteRules } from './input.ts'

/** A code as it is compared: however it was typed, wide letters and ligatures too. */
export const normalizeCode = (code: string): string =>
  code.normalize('NFKC').toUpperCase().normalize('NFKC').trim()

/** A code that was given, and the promotion that it stands for, or why it stands for none. */
export type Entered = { readonly code: string; readonly promotionId?: string; readonly problem?: Problem }

/** Each code once, in their order whatever the order in which they came. */
export const readCodes = (codes: readonly string[], rules: QuoteRules): Entered[] =>
  [...new Set(codes.map(normalizeCode))].sort().map((code): Entered => {
    const known = rules.codes.get(code)
    if (known === undefined) return { code, problem: { code: 'CODE_UNKNOWN' } }
    if (known.usesLeft !== null && known.usesLeft <= 0) return { code, problem: { code: 'CODE_USED_UP' } }
    return { code, promotionId: known.promotionId }
  })
