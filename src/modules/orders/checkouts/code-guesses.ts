import { DomainError } from '../../../kernel/errors.ts'
import type { RequestBudget } from '../../../kernel/shared-request-budgets.ts'
import { tooManyUnknownCodesError } from '../errors.ts'
import type { PlaceOrderInput } from './place-order.ts'

type WithFindings = { readonly findings?: readonly { readonly code: string }[] }
/**
 * Findings that reveal something to a stranger: the code is unknown, or the buyer of an email address has
 * used it.
 */
const GUESSED: readonly string[] = ['CODE_UNKNOWN', 'CODE_NOT_FOR_CUSTOMER']

/**
 * Calls `work`, whose result or error has findings about the codes of the request. Each unknown code counts
 * against the budget of the client address. Without a client address there is no limit. @throws
 * `CHECKOUT_CODES_LIMITED` before the call, when the budget is used up
 */
export type LimitPromotionCodeGuesses = <T extends object>(
  address: string | null,
  request: Pick<PlaceOrderInput, 'codes'>,
  work: () => Promise<T>
) => Promise<T>

/**
 * Limits the unknown promotion codes per minute and client address, so that clients cannot find codes by
 * trial. It does not count per account, because one client can create many accounts.
 */
export function createPromotionCodeGuessLimiter({
  take
}: Pick<RequestBudget, 'take'>): LimitPromotionCodeGuesses {
  return async (address, { codes = [] }, work) => {
    if (address === null || codes.length === 0) return work()
    // All codes are counted first, and the known ones are subtracted later, so that parallel requests cannot
    // try more codes.
    const waitSeconds = await take(address, codes.length)
    if (waitSeconds > 0) throw tooManyUnknownCodesError({ retryAfterSeconds: waitSeconds })
    let outcome: WithFindings = {}
    try {
      const result = await work()
      outcome = result
      return result
    } catch (error) {
      if (error instanceof DomainError) outcome = error.details
      throw error
    } finally {
      const guessed = (outcome.findings ?? []).filter(({ code }) => GUESSED.includes(code)).length
      await take(address, guessed - codes.length)
    }
  }
}
