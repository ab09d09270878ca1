import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { checkoutNotFound } from '../errors.ts'
import type { CheckoutRequestInput } from './read-input.ts'
import type { CheckoutResponse } from './schema.ts'
import type { CheckoutService } from './service.ts'

type Deps = { checkouts: CheckoutService; secrets: Secrets }
/** The id of a checkout or an order, and the token that proves access to it. */
export type GuestCredentials = { readonly id: string; readonly token: string | undefined }

/** Checkouts of guests, who prove access by a token instead of an account. */
export function createGuestCheckoutService({ checkouts, secrets }: Deps) {
  /**
   * Checks the token before the database is read, so that a wrong token reveals nothing. @throws
   * `CHECKOUT_NOT_FOUND`
   */
  function verifyToken({ id, token = '' }: GuestCredentials): string {
    if (!isCheckoutToken(secrets, token, id)) throw checkoutNotFound()
    return id
  }

  return {
    verifyToken,
    create: async (
      requested: CheckoutRequestInput,
      write: IdempotentWrite
    ): Promise<CheckoutResponse & { checkout_token: string }> => {
      const checkout = await checkouts.create(null, requested, write)
      return { checkout_token: checkoutToken(secrets, checkout.id), ...checkout }
    },
    read: async (credentials: GuestCredentials) => checkouts.read(null, verifyToken(credentials)),
    replace: async (credentials: GuestCredentials, requested: CheckoutRequestInput, write: IdempotentWrite) =>
      checkouts.replace(null, verifyToken(credentials), requested, write),
    cancel: async (credentials: GuestCredentials, write: IdempotentWrite) =>
      checkouts.cancel(null, verifyToken(credentials), write)
  }
}
export type GuestCheckoutService = ReturnType<typeof createGuestCheckoutService>

const TOKEN_PURPOSE = 'orders.checkout_token'
const TOKEN_VERSION = '1'
const TOKEN_PREFIX = 'cht_'

/**
 * The token of a guest checkout: a MAC of its id. Nothing is stored, and a repeated request returns the same
 * token.
 */
const checkoutToken = (secrets: Secrets, id: string): string =>
  TOKEN_PREFIX + secrets.mac(TOKEN_PURPOSE, id, TOKEN_VERSION)

const isCheckoutToken = (secrets: Secrets, token: string, id: string): boolean =>
  token.startsWith(TOKEN_PREFIX) &&
  secrets.verify(token.slice(TOKEN_PREFIX.length), TOKEN_PURPOSE, id, TOKEN_VERSION)
