// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the program's own template strings are in quotes here

import type { Bug } from './working-copy.ts'

export type Seed = Bug & {
  /** Test files of which at least one fails while the bug is there, the quickest first. */
  readonly tests: readonly string[]
}

export const seeds: readonly Seed[] = [
  {
    name: 'money-rounding',
    promise: 'A share of an amount is rounded half up.',
    file: 'src/kernel/money.ts',
    find: 'return rest >= denominator - rest ? whole + 1 : whole',
    replace: 'return rest > denominator - rest ? whole + 1 : whole',
    tests: ['src/kernel/money.test.ts']
  },
  {
    name: 'lost-cent',
    promise: 'The parts of an allocated amount add up to the amount.',
    file: 'src/modules/pricing/quote/allocate.ts',
    find: 'if (left === 0) return parts',
    replace: 'if (left <= 1) return parts',
    tests: ['test/quotes/quotes.test.ts']
  },
  {
    name: 'stale-tax-rate',
    promise: 'A tax rate applies until its end and not after it.',
    file: 'src/modules/pricing/quote/tax.ts',
    find: '(endsAt === null || now < endsAt)',
    replace: '(endsAt === null || now > 0)',
    tests: ['src/modules/pricing/quote/quote.test.ts', 'test/quotes/quotes.test.ts']
  },
  {
    name: 'refund-without-limit',
    promise: 'Refunds of a payment never exceed what was captured, pending ones included.',
    file: 'src/modules/payments/payments/repository.ts',
    find: 'refunded + refunding + $amount <= captured',
    replace: 'refunded + $amount <= captured',
    tests: ['src/modules/payments/administration/routes.test.ts', 'test/races/payments.test.ts']
  },
  {
    name: 'refund-counted-twice',
    promise: 'A refund that a callback reports before the response arrives is counted once.',
    file: 'src/modules/payments/facts/reducer.ts',
    find: 'openRefunds.filter(({ id }) => !reportedOperations.has(id))',
    replace: 'openRefunds.filter(({ id }) => id !== undefined || !reportedOperations.has(id))',
    tests: ['src/modules/payments/facts/reducer.test.ts']
  },
  {
    name: 'refund-of-unpaid-money',
    promise: 'A credit pays back only what was paid beyond what is owed.',
    file: 'src/modules/orders/adjustments/credits.ts',
    find: 'return Math.min(credit.amountMinor, Math.max(0, heldMinor - owedMinor))',
    replace: 'return Math.min(credit.amountMinor, Math.max(0, heldMinor))',
    tests: ['src/modules/orders/adjustments/credits.test.ts']
  },
  {
    name: 'safety-stock-sold',
    promise: 'The safety stock of a level is not for sale.',
    file: 'src/modules/inventory/decisions/availability.ts',
    find: 'Math.max(0, level.onHand - level.safety)',
    replace: 'Math.max(0, level.onHand)',
    tests: ['src/modules/inventory/decisions/availability.test.ts', 'test/races/stock-model.test.ts']
  },
  {
    name: 'claimed-stock-expires',
    promise: 'A reservation that an order is claiming does not expire.',
    file: 'src/modules/inventory/decisions/order-changes.ts',
    find: '!rows.every(row => row.isUnlocked)',
    replace: '!rows.some(row => row.isUnlocked)',
    tests: ['src/modules/inventory/reservations/expiry.test.ts']
  },
  {
    name: 'stolen-refresh-token',
    promise: 'A refresh token that is used a second time ends its session.',
    file: 'src/modules/auth/sessions/service.ts',
    find: 'if (userId !== undefined && refreshTokens.isAuthentic(token)) await endIn(tx, id, userId)',
    replace: '',
    tests: ['src/modules/auth/sessions/sessions.test.ts']
  },
  {
    name: 'disabled-user-logged-in',
    promise: 'A login gives no session to a user who is disabled meanwhile.',
    file: 'src/modules/auth/sessions/repository.ts',
    find: 'where id = $userId and password_hash = $passwordHash and disabled_at is null',
    replace: 'where id = $userId and password_hash = $passwordHash',
    tests: ['src/modules/auth/sessions/sessions.test.ts']
  },
  {
    name: 'time-step-accepted-twice',
    promise: 'A code of a second factor is accepted once.',
    file: 'src/modules/auth/second-factors/repository.ts',
    find: 'where user_id = $userId and last_step < $step',
    replace: 'where user_id = $userId and $step > 0',
    tests: ['src/modules/auth/second-factors/routes.test.ts']
  },
  {
    name: 'second-factor-not-required',
    promise:
      'An administrator without the second factor that the shop requires reaches only the routes that enrol it.',
    file: 'src/gateway/tier-scopes.ts',
    find: "authenticated.addHook('onRequest', requireSecondFactorOfAdmin)",
    replace: '',
    tests: ['src/modules/auth/second-factors/required.test.ts', 'test/never/who-gets-in.test.ts']
  },
  {
    name: 'log-in-past-an-enrolment',
    promise: 'A login that began before a second factor was enrolled opens no session without it.',
    file: 'src/modules/auth/sessions/repository.ts',
    find: 'and ($secondFactor or second_factor_at is null)',
    replace: 'and ($secondFactor or true)',
    tests: ['src/modules/auth/sessions/sessions.test.ts']
  },
  {
    name: 'refund-by-old-login',
    promise: 'A refund above the limit needs a recent login.',
    file: 'src/modules/payments/payments/refunds.ts',
    find: 'totalMinor > recent_login_above && !isRecentLogin(actor)',
    replace: 'amountMinor > recent_login_above && !isRecentLogin(actor)',
    tests: ['src/modules/orders/administration/refund-rights.test.ts']
  },
  {
    name: 'admin-routes-open',
    promise: 'A customer gets 403 on the routes of administrators.',
    file: 'src/gateway/tier-scopes.ts',
    find: "admin.addHook('onRequest', requireAdmin)",
    replace: '',
    tests: ['src/gateway/routing/tiers.test.ts', 'test/never/who-gets-in.test.ts']
  },
  {
    name: 'orders-of-other-customers',
    promise: 'A customer reads their own orders only.',
    file: 'src/modules/orders/orders/service.ts',
    find: 'found(await db.first(repository.findOrderOfBuyer, { id, customer_id: owner }), orderNotFoundError)',
    replace: 'found(await db.first(repository.findOrderOfAnyBuyer, { id }), orderNotFoundError)',
    tests: ['test/never/other-callers.test.ts']
  },
  {
    name: 'checkouts-of-other-guests',
    promise: 'A guest reads a checkout only with its token, over HTTP and through a module.',
    file: 'src/modules/orders/checkouts/service.ts',
    find: "if (!isValidCheckoutToken(secrets, buyer.token ?? '', id)) throw checkoutNotFoundError()",
    replace: '',
    tests: ['src/modules/orders/ownership.test.ts', 'test/module-commands/renewals.test.ts']
  },
  {
    name: 'retried-job-orders-again',
    promise: 'A module that repeats a write gets the order that the first one placed.',
    file: 'src/modules/orders/commands/service.ts',
    find: 'const isRepeated = !write.alreadyApplied && (await find(write.id)) !== undefined',
    replace: 'const isRepeated = false',
    tests: ['test/module-commands/renewals.test.ts']
  },
  {
    name: 'key-reused-for-another-request',
    promise: 'An idempotency key that comes with another request is refused.',
    file: 'src/platform/idempotency/claims.ts',
    find: "if (!row.fingerprint.equals(key.fingerprint)) return { kind: 'reused' }",
    replace: '',
    tests: ['src/platform/idempotency/claims.test.ts', 'src/gateway/writes/idempotency.test.ts']
  },
  {
    name: 'write-not-noted',
    promise: 'A retry after a lost response does not apply the write again.',
    file: 'src/platform/idempotency/write.ts',
    find: 'await operation.mark?.(tx, resultId)',
    replace: '',
    tests: ['src/gateway/writes/idempotency.test.ts', 'src/gateway/writes/write.test.ts']
  },
  {
    name: 'lost-cart-update',
    promise: 'Of two simultaneous changes of a cart none is lost.',
    file: 'src/modules/cart/carts/optimistic-repository.ts',
    find: 'on c.cart_id = change.cart_id and c.version = change.version and c.expires_at > now()',
    replace: 'on c.cart_id = change.cart_id and c.expires_at > now()',
    tests: ['src/modules/cart/carts/service.test.ts', 'test/races/cart.test.ts']
  },
  {
    name: 'events-out-of-order',
    promise: 'Events of one subject are handled in their order.',
    file: 'src/platform/outbox/job-queries.ts',
    find: 'where earlier.subject = job.subject and earlier.handler = job.handler order by earlier.id limit 1',
    replace:
      'where earlier.subject = job.subject and earlier.handler = job.handler order by earlier.id desc limit 1',
    tests: ['src/platform/outbox/outbox.test.ts']
  },
  {
    name: 'promotion-used-too-often',
    promise: 'A promotion is used by a customer no more often than it allows.',
    file: 'src/modules/pricing/redemptions/enforce-usage-limits.ts',
    find: 'row.taken > row.uses_per_customer',
    replace: 'row.taken > row.uses_per_customer + 1',
    tests: ['test/races/redemptions.test.ts']
  },
  {
    name: 'unknown-fields-accepted',
    promise: 'A field that an operation does not know is refused.',
    file: 'src/kernel/wire.ts',
    find: 'Type.Object(properties, { title: name, additionalProperties: false })',
    replace: 'Type.Object(properties, { title: name, additionalProperties: true })',
    tests: ['src/kernel/wire.test.ts', 'src/modules/cart/carts/routes.test.ts']
  },
  {
    name: 'cart-line-without-limit',
    promise:
      'The lines of a variant in a cart do not exceed its limit, in how many lines and steps units are added.',
    file: 'src/modules/cart/carts/lines.ts',
    find: 'if (quantity > lineQuantityMax && quantity > quantityOfVariant(before, variantId))',
    replace: 'if (changes.set.some(line => line.quantity > lineQuantityMax))',
    tests: ['src/modules/cart/carts/lines.test.ts', 'src/modules/cart/carts/line-routes.test.ts']
  },
  {
    name: 'streamed-body-without-limit',
    promise: 'A streamed body ends at its limit, whatever its sender announced.',
    file: 'src/gateway/routing/body-kinds.ts',
    find: 'if (bytes > bytesMax) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()',
    replace: '',
    tests: ['src/gateway/routing/body-kinds.test.ts']
  },
  {
    name: 'budget-by-address',
    promise: 'All addresses of an IPv6 network share one budget of requests.',
    file: 'src/gateway/callers/rate-limits.ts',
    find: 'groups.slice(0, 4)',
    replace: 'groups.slice(0, 8)',
    tests: ['src/gateway/callers/rate-limits.test.ts']
  },
  {
    name: 'weak-etag',
    promise: 'The ETag of a response is its strong version, which If-Match takes.',
    file: 'src/gateway/routing/response-defaults.ts',
    find: "reply.header('etag', `\"",
    replace: "reply.header('etag', `W/\"",
    tests: ['src/gateway/routing/response-defaults.test.ts']
  },
  {
    name: 'request-to-private-network',
    promise: 'A webhook never reaches an address of a private network.',
    file: 'src/platform/http/addresses.ts',
    find: "if (head === '0:0:0:0:0:ffff' || head === '64:ff9b:0:0:0:0') return at(6)",
    replace: "if (head === '64:ff9b:0:0:0:0') return at(6)",
    tests: ['src/platform/http/addresses.test.ts']
  },
  {
    name: 'signature-without-time',
    promise: 'The signature of a webhook covers its time, so that an old one cannot be replayed.',
    file: 'src/modules/webhooks/signatures/sign.ts',
    find: 'timestampSeconds}.',
    replace: '0 * timestampSeconds}.',
    tests: ['src/modules/webhooks/sender/sender.test.ts']
  },
  {
    name: 'rating-not-taken-away',
    promise: 'A review that is withdrawn or changed no longer counts as it did.',
    file: 'src/modules/reviews/ratings/repository.ts',
    find: '- coalesce(($before::int4',
    replace: '- 0 * coalesce(($before::int4',
    tests: ['src/modules/reviews/ratings/races.test.ts', 'src/modules/reviews/ratings/pages.test.ts']
  },
  {
    name: 'tender-refunded-beyond-its-amount',
    promise: 'A tender gets back at most what it gave.',
    file: 'src/modules/orders/tenders/allocation.ts',
    find: 'const amountMinor = Math.min(restMinor, heldByTender(tender))',
    replace: 'const amountMinor = Math.min(restMinor, tender.amountMinor)',
    tests: ['src/modules/orders/tenders/allocation.test.ts', 'test/races/refund-histories.test.ts']
  },
  {
    name: 'gift-card-reserved-without-lock',
    promise: 'Simultaneous orders take no more from a gift card than it has.',
    file: 'examples/gift-cards/gift-cards/cards/repository.ts',
    find: 'text: `${cardOfCode} for update`',
    replace: 'text: cardOfCode',
    tests: ['src/modules/orders/tenders/contract.test.ts']
  },
  {
    name: 'engine-tax-not-recorded',
    promise: 'An order records the tax engine that computed its taxes.',
    file: 'src/modules/orders/placement/order-rows.ts',
    find: 'tax_engine: taxEngine && { name: taxEngine.name, is_fallback: taxEngine.isFallback }',
    replace: 'tax_engine: taxEngine && null',
    tests: ['src/modules/orders/checkouts/tax-engine.test.ts']
  },
  {
    name: 'engine-taxes-not-applied',
    promise: 'The taxes of an order are those of the tax engine.',
    file: 'src/modules/pricing/tax-engine/service.ts',
    find: 'quote: computeQuote({ ...input, taxes })',
    replace: 'quote: computeQuote({ ...input, taxes: taxes.slice(1) })',
    tests: ['src/modules/orders/checkouts/tax-engine.test.ts']
  },
  {
    name: 'canceled-order-keeps-its-tenders',
    promise: 'An order that is canceled or expires gives its tenders back.',
    file: 'src/modules/orders/adjustments/service.ts',
    find: 'await tenders.refund(tx, id, held.tenders, split.tenders)',
    replace:
      "if (kind !== 'cancel' || split.paymentsMinor > 0) await tenders.refund(tx, id, held.tenders, split.tenders)",
    tests: ['src/modules/orders/tenders/orders.test.ts']
  },
  {
    name: 'refused-order-keeps-its-reservations',
    promise: 'An order that is not placed releases the tenders that it reserved.',
    file: 'src/modules/orders/placement/service.ts',
    find: 'await tenders.release(write.id, purchase.tenders).catch(() => {})',
    replace: '',
    tests: ['src/modules/orders/tenders/orders.test.ts']
  }
]
