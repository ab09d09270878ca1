import { createRequestBudget, type TenderQuery } from 'cartwright'
import { giftCardGuessesError } from '../errors.ts'

/** Runs a look-up of a code. @throws `GIFT_CARD_GUESSES_LIMITED` before it, when too many look-ups have failed */
export type LimitGuesses = <T>(query: Pick<TenderQuery, 'buyer'>, lookUp: () => Promise<T>) => Promise<T>

const ALL = 'all'
const TOTAL_FACTOR = 100

/**
 * Limits failed look-ups per minute, for each network and for all together. A look-up counts from its start and is given
 * back when it succeeds, so parallel requests cannot try more codes.
 */
export function createGuessLimiter(perMinute: number): LimitGuesses {
  const ofNetwork = createRequestBudget(perMinute)
  const ofAll = createRequestBudget(perMinute * TOTAL_FACTOR)
  return async ({ buyer: { network } }, lookUp) => {
    // An administrator or a job guesses no codes.
    if (network === null) return lookUp()
    const waitSeconds = ofNetwork(network) || ofAll(ALL)
    if (waitSeconds > 0) throw giftCardGuessesError({ retryAfterSeconds: waitSeconds })
    const found = await lookUp()
    ofNetwork(network, -1)
    ofAll(ALL, -1)
    return found
  }
}
