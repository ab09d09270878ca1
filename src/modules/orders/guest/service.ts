import type { Write } from '../../../platform/idempotency/write.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { Said } from '../checkouts/intake.ts'
import type { CheckoutResponse } from '../checkouts/schema.ts'
import type { CheckoutService } from '../checkouts/service.ts'
import { checkoutNotFound } from '../errors.ts'
import { checkoutToken, isCheckoutToken } from './token.ts'

type Deps = { checkouts: CheckoutService; secrets: Secrets }
/** A checkout, and what shows that it is the caller's. */
export type Claim = { readonly id: string; readonly token: string | undefined }

/** Checkouts of people without an account: the same ones, reached by a token instead of an identity. */
export function createGuestCheckoutService({ checkouts, secrets }: Deps) {
  /** With a wrong token nothing is told of any id, before the database is asked. @throws `CHECKOUT_NOT_FOUND` */
  function proved({ id, token = '' }: Claim): string {
    if (!isCheckoutToken(secrets, token, id)) throw checkoutNotFound()
    return id
  }

  return {
    proved,
    create: async (said: Said, write: Write): Promise<CheckoutResponse & { checkout_token: string }> => {
      const checkout = await checkouts.create(null, said, write)
      return { checkout_token: checkoutToken(secrets, checkout.id), ...checkout }
    },
    read: async (claim: Claim) => checkouts.read(null, proved(claim)),
    replace: async (claim: Claim, said: Said, write: Write) =>
      checkouts.replace(null, proved(claim), said, write),
    cancel: async (claim: Claim, write: Write) => checkouts.cancel(null, proved(claim), write)
  }
}
export type GuestCheckoutService = ReturnType<typeof createGuestCheckoutService>
