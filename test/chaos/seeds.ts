// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the program's own template strings are in quotes here

import type { Bug } from '../seeded-bugs/working-copy.ts'

type Seed = Bug & {
  /** Part of the sentence by which the report of a run names the bug. */
  readonly seenAs: string
}

/** Bugs that a run of chaos must detect. `plant.ts` plants one in a copy of the working tree and runs chaos there. */
export const seeds: readonly Seed[] = [
  {
    name: 'order-refund-paid-twice',
    promise: 'The refund of an order is paid back once.',
    file: 'src/modules/payments/accounts/locked-account.ts',
    find: 'await refunds.request(tx, payment, { ...request, id: operationId, amountMinor: part })',
    replace: `const own = { ...request, amountMinor: part }
        await refunds.request(tx, payment, { ...own, id: operationId })
        if (payment.captured - payment.refunded - payment.refunding >= 2 * part) {
          const again = derivedId(operationId, 'again')
          await refunds.request(tx, payment, { ...own, id: again })
          wake(tx, again)
        }`,
    seenAs: 'was refunded, and'
  },
  {
    name: 'returned-units-counted-twice',
    promise: 'Returned units are put back into stock once.',
    file: 'src/modules/orders/fulfilment/service.ts',
    find: "{ id: write.id, kind: 'return', owner: order_id, lines }",
    replace: "{ id: write.id, kind: 'return', owner: order_id, lines: [...lines, ...lines] }",
    seenAs: 'units were expected by the operations'
  },
  {
    name: 'keyed-request-executed-again',
    promise: 'A keyed request is executed once, also when its client hangs up while it is repeated.',
    file: 'src/gateway/writes/idempotency.ts',
    find: 'const answer = decryptStoredResponse(outcome.answer, cipherKey)',
    replace: `const answer = decryptStoredResponse(outcome.answer, cipherKey)
    await new Promise(done => setTimeout(done, 10))
    if (request.raw.socket.destroyed) {
      delete request.headers['idempotency-key']
      return true
    }`,
    seenAs: 'was acknowledged once, and had the effect'
  },
  {
    name: 'webhook-under-two-ids',
    promise: 'A webhook has the same id in each try.',
    file: 'src/modules/webhooks/sender/http-request.ts',
    find: "'webhook-id': id,",
    replace: "'webhook-id': `${id}-${timestampSeconds}`,",
    seenAs: 'arrived under 2 ids'
  },
  {
    name: 'mail-under-two-ids',
    promise: 'A mail has the same Message-ID in each try.',
    file: 'src/modules/notifications/delivery/service.ts',
    find: '`<${message.id}@${mails.domain}>`',
    replace: '`<${message.id}.${message.attempts}@${mails.domain}>`',
    seenAs: 'the mail'
  },
  {
    name: 'adjustment-applied-twice',
    promise: 'An adjustment of stock is applied once.',
    file: 'src/modules/inventory/levels/service.ts',
    find: 'const lines = [{ itemId: variantId, locationId: place.id, delta }]',
    replace: 'const lines = [1, 2].map(() => ({ itemId: variantId, locationId: place.id, delta }))',
    seenAs: 'adjust stock'
  },
  {
    name: 'count-lost',
    promise: 'An acknowledged count is the number of units on hand.',
    file: 'src/modules/inventory/levels/service.ts',
    find: 'onHand: on_hand,',
    replace: 'onHand: on_hand > 150 && on_hand < 200 ? null : on_hand,',
    seenAs: 'units were expected by the operations'
  },
  {
    name: 'shipped-units-counted-twice',
    promise: 'A shipment takes its units from stock once.',
    file: 'src/modules/orders/fulfilment/service.ts',
    find: "kind: 'ship', owner: order_id, lines: stockLinesOfUnits(locked, units) }",
    replace: "kind: 'ship', owner: order_id, lines: stockLinesOfUnits(locked, [...units, ...units]) }",
    seenAs: 'units were expected by the operations'
  },
  {
    name: 'cancel-releases-twice',
    promise: 'A canceled order gives its reserved units back once.',
    file: 'src/modules/inventory/decisions/order-changes.ts',
    find: 'for (const { row, quantity } of shares) releaseReservedUnits(ledger, operation, row, quantity)',
    replace: `for (const { row, quantity } of shares) {
    releaseReservedUnits(ledger, operation, row, quantity)
    const level = ledger.levelAt(row.itemId, row.locationId)
    if (level.reserved >= quantity)
      ledger.move(level, { kind: 'release', onHandDelta: 0, reservedDelta: -quantity, operation: operation.id, owner: row.owner })
  }`,
    seenAs: 'the stock ledger has discrepancies'
  },
  {
    name: 'credit-of-another-amount',
    promise: 'A refund is recorded with the amount that was requested.',
    file: 'src/modules/orders/adjustments/service.ts',
    find: 'const { amountMinor: amount, parts } = credit',
    replace: 'const { amountMinor, parts } = credit\n    const amount = Math.max(0, amountMinor - 1)',
    seenAs: 'had the effect "credit" with'
  },
  {
    name: 'return-always-restocked',
    promise: 'Units that cannot be sold again are not put back into stock.',
    file: 'src/modules/orders/fulfilment/service.ts',
    find: 'if (!restock) return',
    replace: 'if (!restock && units.length === 0) return',
    seenAs: 'units were expected by the operations'
  },
  {
    name: 'refund-sent-under-two-keys',
    promise: 'A refund is made once at the provider.',
    file: 'src/modules/payments/operations/sender.ts',
    find: 'const response = await providers.call(name, () => provider.send(request, draft.id))',
    replace: `const response = await providers.call(name, () => provider.send(request, draft.id))
    if (draft.kind === 'refund') await provider.send(request, draft.id + draft.id).catch(() => {})`,
    seenAs: 'the provider executed the refund'
  },
  {
    name: 'redemption-not-given-back',
    promise: 'A canceled order gives the uses of its promotions back.',
    file: 'src/modules/orders/payments/settle-cancellation.ts',
    find: 'await pricing.release(tx, id)',
    replace: 'if (locked.order.total < 0) await pricing.release(tx, id)',
    seenAs: 'a redemption belongs to an order that is canceled'
  },
  {
    name: 'cart-write-lost',
    promise: 'An acknowledged change of a cart is in the order that is made of the cart.',
    file: 'src/modules/cart/carts/lines.ts',
    find: '{ ...equal, quantity: equal.quantity + added.quantity }',
    replace: '{ ...equal }',
    seenAs: 'were ordered, and'
  },
  {
    name: 'gift-card-refunded-less',
    promise: 'A gift card gets back what the order returns to it.',
    file: 'src/modules/orders/tenders/service.ts',
    find: 'amountMinor: amountOf.get(tenderId) ?? 0',
    replace: 'amountMinor: Math.max(1, (amountOf.get(tenderId) ?? 0) - 1)',
    seenAs: 'what a gift card got back is not what its tenders got back'
  }
]
