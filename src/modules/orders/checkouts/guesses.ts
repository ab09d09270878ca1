import { createBudget } from '../../../kernel/budget.ts'
import { DomainError } from '../../../kernel/errors.ts'
import { tooManyCodes } from '../errors.ts'
import type { CheckoutBody } from './schema.ts'

type Told = { readonly findings?: readonly { readonly code: string }[] }
/** Codes that are not known, and at placement those that an e-mail address may not use: both reveal something to a stranger. */
const GUESSED: readonly string[] = ['CODE_UNKNOWN', 'CODE_NOT_FOR_CUSTOMER']

/**
 * Does `work`, whose answer or refusal says in its findings what becomes of the codes that an address sent.
 * @throws `CHECKOUT_CODES_LIMITED` before it does.
 */
export type Guesses = <T extends object>(
  address: string,
  body: Pick<CheckoutBody, 'codes'>,
  work: () => Promise<T>
) => Promise<T>

/**
 * Nobody finds codes by trying them all: of those that there are not, an address tries so many a minute. Accounts make no
 * difference, as anybody has many.
 */
export function limitGuesses(perMinute: number): Guesses {
  const take = createBudget(perMinute)
  return async (address, { codes = [] }, work) => {
    if (codes.length === 0) return work()
    // All count until it is known which there are, so that many requests at once try no more than one after the other.
    const waitSeconds = take(address, codes.length)
    if (waitSeconds > 0) throw tooManyCodes({ retryAfterSeconds: waitSeconds })
    let told: Told = {}
    try {
      const answer = await work()
      told = answer
      return answer
    } catch (error) {
      if (error instanceof DomainError) told = error.details
      throw error
    } finally {
      const guessed = (told.findings ?? []).filter(({ code }) => GUESSED.includes(code)).length
      take(address, guessed - codes.length)
    }
  }
}
