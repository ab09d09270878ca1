import { expect, test } from 'vitest'
import { usePayments } from '../../../../test/support/payments.ts'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { provide } from '../../../kernel/ports.ts'
import type { Log } from '../../../platform/log.ts'
import { createOrderPaymentAccountChanges } from '../accounts/changes.ts'
import { createOrderPaymentAccountLock } from '../accounts/locked-account.ts'
import { createPaymentFactRecorder } from '../facts/recorder.ts'
import { createRefundService } from '../payments/refunds.ts'
import { storeProviderPaymentIdAndNextStep } from '../payments/repository.ts'
import { createPaymentProviderResponseRecorder } from '../provider-events/response-recorder.ts'
import { createManualPaymentProvider } from '../providers/manual.ts'
import {
  type ParsedPaymentProviderResponse,
  type PaymentProvider,
  paymentProviderPort
} from '../providers/port.ts'
import { createPaymentProviderRegistry } from '../providers/registry.ts'
import { createPaymentReconciler, reschedulePaymentOperationsAndPolls } from './reconciler.ts'
import { createPaymentRefresher } from './refresh.ts'
import { createPaymentOperationSender } from './sender.ts'

const STEP_SECONDS = 5
const [ASKED, BEGUN] = [60, 10]

/** A provider that the shop does not have, with its own reconciler, whose clock advances in steps. */
async function useOutage() {
  const { db, sql, platform } = await usePayments()
  // The reconciler of the shop would handle all of this when it starts.
  await platform.outbox.stop()
  const secrets = testSecrets()
  let [isBack, asks, milliseconds] = [false, 0, 0]
  const answer = async (id: string): Promise<ParsedPaymentProviderResponse> => {
    asks += 1
    const of = { objectId: `far_${id}`, status: 'succeeded', amount: 100, currency: 'EUR' } as const
    return isBack
      ? {
          kind: 'done',
          paymentObjectId: `far_${id}`,
          facts: [
            { ...of, kind: 'intent' },
            { ...of, kind: 'capture' }
          ]
        }
      : { kind: 'unknown', error: 'the provider does not respond' }
  }
  const settings = { methods: ['any'], bankTransfer: '', isProduction: false }
  const { respondLocally: _, ...manual } = createManualPaymentProvider(settings)
  const faraway: PaymentProvider = {
    ...manual,
    callbacks: { verify: () => 'wrong', read: () => ({ kind: 'unreadable', error: '' }) },
    send: (_request, key) => answer(key),
    fetch: ({ id }) => answer(id)
  }
  const rescheduled: Promise<void>[] = []
  const onRecovered = (name: string) => rescheduled.push(reschedulePaymentOperationsAndPolls(db, name))
  const providers = createPaymentProviderRegistry({
    read: () => [provide(paymentProviderPort, 'faraway', faraway)],
    settings: { default_provider: 'auto', retired_providers: [] },
    onRecovered,
    clock: () => milliseconds
  })
  const recorder = createPaymentFactRecorder({
    publisherOf: () => () => {},
    voidOpen: async () => {},
    isLimited: async () => false
  })
  const recordResponse = createPaymentProviderResponseRecorder({ secrets, recorder })
  const lockAccount = createOrderPaymentAccountLock({
    providers,
    recorder,
    refunds: createRefundService({ limits: { recent_login_above: 0, api_key_max: 0 }, providers }),
    wake: () => {}
  })
  const accounts = createOrderPaymentAccountChanges({ lockAccount, listener: () => undefined })
  const failures: unknown[] = []
  const reconcile = createPaymentReconciler({
    db,
    log: { error: (entry: unknown) => failures.push(entry) } as unknown as Log,
    sender: createPaymentOperationSender({ db, secrets, providers, recorder, accounts, recordResponse }),
    callbacks: { apply: async () => {} },
    providers,
    refreshPayment: createPaymentRefresher({ db, providers, accounts, recordResponse })
  })

  await sql(
    `with accounts as (
      insert into payments.accounts (order_id, currency, due, committed)
      select gen_random_uuid(), 'EUR', 100, 100 from generate_series(1, $1) returning order_id)
    insert into payments.payments (id, order_id, provider, method, amount, currency)
    select order_id, order_id, 'faraway', 'any', 100, 'EUR' from accounts`,
    [ASKED + BEGUN]
  )
  await sql(
    `insert into payments.operations (id, payment_id, order_id, provider, kind, amount, state, attempts, sent_at, next_check_at)
     select id, id, order_id, provider, 'create', 100, 'unknown', 8, now() - interval '1 hour', now() + interval '12 hours'
     from payments.payments limit $1`,
    [ASKED]
  )
  // The provider confirmed that these payments exist. Polls about their status failed.
  await sql(
    `update payments.payments set object_id = 'far_' || id, polls = 4, next_poll_at = now() + interval '12 hours'
     where id not in (select payment_id from payments.operations)`
  )

  const count = async (what: string) =>
    Number((await sql(`select count(*) as n from payments.${what}`))[0]?.n)
  return {
    db,
    sql,
    failures,
    isDown: () => providers.isDown('faraway'),
    asks: () => asks,
    comeBack: () => {
      isBack = true
    },
    unsettled: async () =>
      (await count('operations where settled_at is null')) +
      (await count(`payments where status = 'pending'`)),
    /** Advances the clocks of the process and of the database. */
    step: async (seconds = STEP_SECONDS) => {
      milliseconds += seconds * 1_000
      const earlier = (column: string) => `${column} = ${column} - make_interval(secs => $1)`
      await sql(`update payments.operations set ${earlier('next_check_at')} where settled_at is null`, [
        seconds
      ])
      await sql(`update payments.payments set ${earlier('next_poll_at')}`, [seconds])
      await reconcile.run(new AbortController().signal)
      await Promise.all(rescheduled)
    }
  }
}

test('a payment provider that is down is probed every 15 s, and its operations settle within two minutes of recovery', async () => {
  const { step, asks, isDown, comeBack, unsettled, sql, failures } = await useOutage()
  while (!isDown()) await step()
  const until = asks()
  for (let seconds = 0; seconds < 120; seconds += STEP_SECONDS) await step()
  expect(asks() - until).toBe(120 / 15)
  expect(await unsettled()).toBe(2 * ASKED + BEGUN)

  comeBack()
  let seconds = 0
  while (isDown()) {
    await step()
    seconds += STEP_SECONDS
  }
  expect(seconds).toBeLessThanOrEqual(15)
  const [waits] = await sql(
    `select count(*)::int as many, max(next_check_at - now()) <= interval '20 seconds' as is_soon,
       count(*) filter (where next_check_at < now() + interval '10 seconds')::int as early
     from payments.operations where settled_at is null`
  )
  expect(waits).toMatchObject({ is_soon: true })
  expect([Number(waits?.many), Number(waits?.early) < ASKED - 1]).toEqual([ASKED - 1, true])
  while ((await unsettled()) > 0 && seconds < 120) {
    await step()
    seconds += STEP_SECONDS
  }
  expect(await unsettled()).toBe(0)
  expect(failures).toEqual([])
  expect(
    await sql(`select distinct status, captured::int from payments.accounts where status <> 'unpaid'`)
  ).toEqual([{ status: 'paid', captured: 100 }])
})

test('rescheduling payment operations skips locked rows', async () => {
  const { db, sql } = await useOutage()
  const [held] = await sql('select id, order_id from payments.payments where polls = 4 limit 1')
  const { id, order_id } = held as { id: string; order_id: string }
  await db.transaction(async tx => {
    await tx.run(storeProviderPaymentIdAndNextStep, { id, object_id: `far_${id}`, next_step: null })
    await reschedulePaymentOperationsAndPolls(db, 'faraway')
  })
  const late = `> now() + interval '1 minute'`
  expect(
    await sql(`select order_id from payments.payments where polls > 0 and next_poll_at ${late}`)
  ).toEqual([{ order_id }])
  expect(await sql(`select id from payments.operations where next_check_at ${late}`)).toEqual([])
})
