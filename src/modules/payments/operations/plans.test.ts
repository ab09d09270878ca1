import { expect, test } from 'vitest'
import { usePayments } from '../../../../test/support/payments.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Statement } from '../../../platform/postgres/statement.ts'
import { listExpiringAuthorizations } from '../authorization-expiry/repository.ts'
import { listPaymentsOfOrderWithFacts } from '../facts/repository.ts'
import * as operations from '../payments/operation-repository.ts'
import * as payments from '../payments/repository.ts'
import * as callbacks from '../provider-events/repository.ts'
import * as reconciliation from '../reconciliation/repository.ts'

const MANY = 10_000
/** Number of operations without a result. */
const OPEN = 100
/** Rows that one batch reads, with related rows. */
const TAKEN_MAX = 60
/** Statements that sort, count or update all open rows may also meet dead index entries of the statements before. */
const ALL_OPEN_MAX = 10 * OPEN
const ALL_OPEN = [
  ...[
    operations.retryPaymentOperationsSoon,
    payments.countUnsettledPaymentsOfOtherProviders,
    operations.measureOpenPaymentOperations,
    operations.listOpenPaymentOperations,
    operations.countOpenPaymentOperations
  ],
  ...[payments.pollPaymentsSoon, callbacks.expediteProviderEvents, callbacks.countUnappliedProviderEvents]
] as Statement[]

test(`among ${MANY} settled operations, the reconciler reads only the open ones`, async () => {
  const { sql } = await usePayments()
  await sql(
    `insert into payments.accounts (order_id, currency, due)
     select gen_random_uuid(), 'EUR', 100 from generate_series(1, ${MANY})`
  )
  await sql(
    `insert into payments.payments (id, order_id, provider, method, amount, currency, object_id, status, is_open, polls, next_poll_at)
     select order_id, order_id, 'faraway', 'any', 100, 'EUR', 'pi_' || order_id, case when n <= ${OPEN} then 'pending' else 'succeeded' end,
       n <= ${OPEN}, 1, now() + case when n % 2 = 0 then interval '1 day' else interval '-1 day' end
     from (select order_id, row_number() over () as n from payments.accounts) as each`
  )
  await sql(
    `insert into payments.operations
       (id, payment_id, order_id, provider, kind, amount, state, attempts, sent_at, next_check_at, settled_at)
     select id, id, order_id, provider, 'create', 100, case when is_open then 'unknown' else 'succeeded' end, 1, now(),
       case when is_open then next_poll_at end, case when not is_open then now() end
     from payments.payments`
  )
  await sql(
    `insert into payments.facts (provider, kind, object_id, payment_id, rank, status, amount, currency, source)
     select provider, kind, object_id, id, 50, 'succeeded', 100, 'EUR', 'callback'
     from payments.payments, unnest(array['intent', 'capture']) as kind where not is_open`
  )
  await sql(
    `insert into payments.events (id, provider, event_id, type, state, next_check_at)
     select id, provider, 'evt_' || id, 'any', case when is_open then 'received' else 'applied' end,
       case when is_open then now() + interval '1 hour' end
     from payments.payments`
  )
  await sql(
    'vacuum analyze payments.operations, payments.payments, payments.facts, payments.events, payments.accounts'
  )

  const provider = 'faraway'
  const [{ id, order_id, object_id } = { id: '', order_id: '', object_id: '' }] = await sql(
    'select id, order_id, object_id from payments.payments where is_open limit 1'
  )
  const of = { id, order_id, object_id, provider, limit: 20, pauses: [15], providers: [provider] }
  const lists = {
    ids: [id],
    objectIds: [object_id],
    kinds: ['intent'],
    eventIds: [`evt_${id}`],
    after: LOWEST_ID
  }
  for (const statement of [
    ...[
      operations.claimDuePaymentOperations,
      operations.claimPaymentOperationToProbeProvider,
      operations.findOrderOfPaymentOperation
    ],
    ...[
      operations.listOpenPaymentOperationsOfOrder,
      operations.claimPaymentOperation,
      operations.failUnsentOperationsOfCanceledOrder,
      listPaymentsOfOrderWithFacts,
      listExpiringAuthorizations
    ],
    ...[
      payments.claimPaymentsToPoll,
      payments.claimPaymentsOfOrderToPoll,
      payments.listPaymentsByIdOrObjectId,
      payments.findPaymentByProviderObjectId
    ],
    ...[
      callbacks.claimDueProviderEvents,
      reconciliation.listPaymentFactsOfProviderObjects,
      reconciliation.listStoredProviderEventIds
    ],
    ...ALL_OPEN
  ] as Statement[]) {
    const values = Object.keys(statement.takes).map(name => ({ ...of, ...lists })[name as keyof typeof of])
    const types = Object.values(statement.takes).map(type => type.replace('?', ''))
    const literals = values.map(value => (Array.isArray(value) ? `'{${value}}'` : `'${value}'`))
    const [declared, given] = [types, literals].map(list => (list.length > 0 ? `(${list})` : ''))
    // As on the connections that the program uses for it.
    await sql(`set plan_cache_mode = ${statement.isSlow ? 'force_custom_plan' : 'force_generic_plan'}`)
    await sql(`set enable_seqscan = ${statement.isSlow ? 'on' : 'off'}`)
    await sql(`prepare planned ${declared} as ${statement.text}`)
    const plan = (await sql(`explain analyze execute planned ${given}`))
      .map(row => row['QUERY PLAN'])
      .join('\n')
    await sql('deallocate planned')
    const rows = [...plan.matchAll(/rows=([\d.]+) loops=(\d+)|Rows Removed by Filter: (\d+)/g)].map(
      ([, each = '0', loops = '1', removed]) => Number(removed ?? 0) + Number(each) * Number(loops)
    )
    expect(Math.max(...rows), `${statement.name}\n${plan}`).toBeLessThanOrEqual(
      ALL_OPEN.includes(statement) ? ALL_OPEN_MAX : TAKEN_MAX
    )
  }
})
