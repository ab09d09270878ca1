import type { Tiers } from '../../gateway/routing/tiers.ts'
import { derivedId } from '../../kernel/ids.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import {
  createPaymentAccountService,
  type NewPaymentAccount,
  type OrderCaptureInput,
  type OrderRefundInput
} from './accounts/service.ts'
import { eraseOldPaymentNetworks } from './attempt-limits/repository.ts'
import { createPaymentAttemptLimits } from './attempt-limits/service.ts'
import { createAuthorizationExpiryWatch } from './authorization-expiry/watch.ts'
import { diagnosePaymentSettings, diagnoseQuarantinedPaymentEvents } from './diagnosis.ts'
import { erasePaymentData, paymentPersonalData } from './erasure/service.ts'
import { paymentEvents } from './events.ts'
import { createFactRecorder, type PaymentChange, type PaymentListener } from './facts/recorder.ts'
import { type DailyPaymentSums, type PaymentAccountRow, sumPaymentsByDay } from './facts/repository.ts'
import { paymentIntentRoutes } from './intents/routes.ts'
import { createPaymentIntentService, type PaymentGuard, type PaymentReturnHook } from './intents/service.ts'
import {
  applyProviderEventJob,
  reconcilePaymentsJob,
  sendPaymentOperationJob,
  watchAuthorizationExpiryJob
} from './operations/jobs.ts'
import { createPaymentReconciler, schedulePaymentRetries } from './operations/reconciler.ts'
import { createPaymentRefresher } from './operations/refresh.ts'
import { insertPaymentOperations } from './operations/repository.ts'
import { createOperationSender } from './operations/sender.ts'
import { createRefundService, type RefundActor, type RefundService } from './payments/refunds.ts'
import { paymentRoutes } from './payments/routes.ts'
import { createPaymentService } from './payments/service.ts'
import { createPaymentStarter, type PaymentMethodChoice } from './payments/start.ts'
import { paymentCallbackRoutes } from './provider-events/callback-routes.ts'
import { createPaymentCallbackService } from './provider-events/callback-service.ts'
import { paymentQuarantineRoutes } from './provider-events/quarantine-routes.ts'
import { createPaymentQuarantineService } from './provider-events/quarantine-service.ts'
import { countQuarantinedProviderEvents, eraseOldProviderEventBytes } from './provider-events/repository.ts'
import { createProviderResponseRecorder } from './provider-events/response-recorder.ts'
import { paymentMethodRoutes } from './providers/method-routes.ts'
import { createEnabledPaymentProviders } from './providers/open.ts'
import type { ReconcileReport } from './reconciliation/report.ts'
import { paymentReconciliationRoutes } from './reconciliation/routes.ts'
import { createReconcileWithProviders, type ReconcileOptions } from './reconciliation/service.ts'
import { createReadReconciliationStatus } from './reconciliation/status.ts'
import { paymentsSettings } from './settings.ts'

export { deriveOrderToken, isValidOrderToken } from './accounts/token.ts'
export {
  authorizationExpiringEvent,
  paymentAuthorizedEvent,
  paymentDisputedEvent,
  paymentFailedEvent,
  paymentPaidEvent,
  paymentRefundedEvent,
  refundFailedEvent
} from './events.ts'

import { validatePaymentSettings } from './validation.ts'

export type { PaymentChange, PaymentGuard, PaymentListener, ReconcileReport, RefundActor as Refunder }

const NETWORK_MS = 86_400_000
const SWEEP_SECONDS = 3_600
const RAW_DAYS = 90

/** Captured and refunded amounts per day and currency, in minor units. `day` counts from 1. */
export type PaymentStatistics = readonly DailyPaymentSums[]

/**
 * What orders need from payments. Payments know an order only by its id. A transaction that locks both the account and the
 * order locks the account first.
 */
export type PaymentsApi = {
  /**
   * Registers the hooks of orders, once, at set-up. `listener` runs in each transaction that records facts of a payment.
   * `guard` runs before a buyer starts a payment of an existing order. `follow` runs outside any transaction when a buyer
   * returns from the provider.
   */
  registerHooks(listener: PaymentListener, guard?: PaymentGuard, follow?: PaymentReturnHook): void
  /** Opens the account of an order. With `first`, also starts a payment with the id of the order, and returns its method. */
  openAccount(
    tx: Transaction,
    account: NewPaymentAccount,
    first?: PaymentMethodChoice
  ): Promise<string | undefined>
  /** Sends the open operations of an order to their providers. The responses are recorded when this returns. */
  sendOperations(orderId: string): Promise<void>
  /**
   * Stops all payments of an order: unsent operations are dropped and open payments are voided. The order can be canceled
   * once `isSettled` is true, in this change or in a later one.
   */
  freeze(tx: Transaction, orderId: string): Promise<PaymentChange>
  unfreeze(tx: Transaction, orderId: string): Promise<void>
  /** Changes the amount due. Voids open payments that request more than it and have nothing authorized. */
  updateAmountDue(tx: Transaction, orderId: string, dueMinor: number): Promise<PaymentChange>
  /** Invalidates the tokens of the order and returns the version of the next one. With a customer, assigns the order to them. */
  reissueOrderToken(tx: Transaction, orderId: string, customerId: string | null): Promise<number>
  /**
   * Erases the personal data of this customer (null: of guests) in the payments of these orders. Amounts stay. Locks the
   * accounts in the order of their ids.
   */
  erase(tx: Transaction, customerId: string | null, orderIds: readonly string[]): Promise<void>
  /** Locks the account until `tx` ends. Call it before locking the order. Returns `undefined` when the order has no account. */
  lockAccount(tx: Transaction, orderId: string): Promise<PaymentAccountRow | undefined>
  /** Lists the methods of the open payments of an order. */
  listOpenMethods(tx: Transaction, orderId: string): Promise<string[]>
  /** Captures up to this amount of what is authorized. The provider voids the rest. */
  capture(tx: Transaction, orderId: string, capture: OrderCaptureInput): Promise<void>
  /** Refunds this amount of what was captured. @throws `PAYMENT_REFUND_TOO_MUCH` */
  refund(tx: Transaction, orderId: string, refund: OrderRefundInput): Promise<void>
  /** Checks that the caller may refund this much more of an account. @throws `PAYMENT_REFUND_LIMIT`, `AUTH_RECENT_LOGIN_REQUIRED` */
  assertCanRefund: RefundService['assertCanRefund']
  /** @throws `PAYMENT_ORDER_NOT_FOUND` */
  findAccount(db: Queryable, orderId: string): Promise<PaymentAccountRow>
  /** Sums captures and refunds per day. A day lasts from its start to the next start, the last one to `end`. */
  statistics(db: Queryable, starts: readonly Date[], end: Date): Promise<PaymentStatistics>
  /** Counts the quarantined provider events. */
  countQuarantinedEvents(db: Queryable): Promise<number>
  /** Compares the payments of the providers since a date with the recorded facts. With `record`, records what is missing. */
  reconcile(options: ReconcileOptions, onProgress?: (looked: number) => void): Promise<ReconcileReport>
}

/** Payments, refunds and payment providers. */
export const paymentsModule = defineModule({
  name: 'payments',
  description: 'Payments, refunds and payment providers.',
  tags: {
    'guest payments': 'Payments of orders without an account. `X-Order-Token` proves access.',
    'payment methods': 'Payment methods that a shop front can offer.',
    'payment callbacks': 'Webhooks that payment providers send to the shop.'
  },
  basePaths: ['/api/payments', '/api/admin/payments'],
  settings: paymentsSettings,
  validate: validatePaymentSettings,
  credentialHeaders: ['x-order-token'],
  requires: {},
  uses: {},
  emits: paymentEvents,
  jobs: [sendPaymentOperationJob, reconcilePaymentsJob, applyProviderEventJob, watchAuthorizationExpiryJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  diagnose: diagnosePaymentSettings,
  setup: async ({ db, timers, config, emit, enqueue, http, log, metrics, secrets }, settings) => {
    const { providers, stop } = createEnabledPaymentProviders({
      config,
      settings,
      http,
      secrets,
      onRecovered: provider => {
        schedulePaymentRetries(db, provider).catch(error =>
          log.warn({ err: error, provider }, 'operations of a recovered provider could not be rescheduled')
        )
      }
    })

    let listener: PaymentListener | undefined
    let guard: PaymentGuard | undefined
    let follow: PaymentReturnHook | undefined
    const wakeOperation = (tx: Transaction, operation_id: string) =>
      enqueue(tx, sendPaymentOperationJob, { operation_id }, { subject: operation_id })
    const paused = metrics.counter('attempts_refused', 'Payments refused because too many attempts failed.', {
      subject: ['network', 'order']
    })
    const attempts = createPaymentAttemptLimits({
      secrets,
      failuresMax: settings.failed_attempts_per_hour,
      count: subject => paused.add({ subject })
    })
    const recorder = createFactRecorder({
      isLimited: attempts.isLimited,
      listener: () => listener,
      publisherOf: (tx, orderId) => (event, payload) => emit(tx, event, orderId, payload),
      voidOpen: async (tx, payments, reason) => {
        const ids = payments.map(({ id, voids }) => derivedId(id, `void:${voids}`))
        const wanted = { ids, paymentIds: payments.map(({ id }) => id), amounts: payments.map(() => 0) }
        await tx.run(insertPaymentOperations, { ...wanted, kind: 'void', reason, actor: null })
        for (const id of ids) wakeOperation(tx, id)
      }
    })
    const recordResponse = createProviderResponseRecorder({ secrets, recorder })
    const refreshPayment = createPaymentRefresher({ db, providers, recorder, recordResponse })
    const sender = createOperationSender({ db, secrets, providers, recorder, recordResponse })
    const refunds = createRefundService(settings.refunds)
    const starter = createPaymentStarter(providers, attempts)
    const accounts = createPaymentAccountService({
      recorder,
      starter,
      refunds,
      attempts,
      wake: wakeOperation
    })
    const events = metrics.counter('callbacks', 'Callbacks of payment providers, by result.', {
      result: ['received', 'repeated', 'refused', 'quarantined']
    })
    const wakeEvent = (tx: Transaction, id: string) =>
      enqueue(tx, applyProviderEventJob, { id }, { subject: id })
    const callbacks = createPaymentCallbackService({
      db,
      secrets,
      providers,
      recorder,
      wake: wakeEvent,
      count: result => events.add({ result })
    })
    const runReconciler = createPaymentReconciler({ db, log, sender, callbacks, providers, refreshPayment })
    const capturesExpiring = settings.capture_before_expiry === 'capture'
    const watchAuthorizations = createAuthorizationExpiryWatch({
      db,
      log,
      emit,
      wake: wakeOperation,
      capturesExpiring
    })
    timers.untilEmpty(SWEEP_SECONDS, 'erase networks of old payments', () =>
      db.run(eraseOldPaymentNetworks, { before: new Date(Date.now() - NETWORK_MS) })
    )
    timers.untilEmpty(SWEEP_SECONDS, 'erase old payment callbacks', () =>
      db.run(eraseOldProviderEventBytes, { days: RAW_DAYS })
    )

    const api: PaymentsApi = {
      ...accounts,
      assertCanRefund: refunds.assertCanRefund,
      statistics: (database, starts, end) =>
        database.rows(sumPaymentsByDay, { starts: starts.map(start => start.toISOString()), end }),
      countQuarantinedEvents: async database =>
        (await database.first(countQuarantinedProviderEvents))?.total ?? 0,
      erase: erasePaymentData,
      registerHooks: (wanted, wantedGuard, wantedFollow) => {
        listener = wanted
        guard = wantedGuard
        follow = wantedFollow
      },
      sendOperations: sender.sendOpenOperations,
      reconcile: createReconcileWithProviders({ db, secrets, providers, recorder, recordResponse })
    }
    return {
      api,
      personalData: paymentPersonalData(db),
      diagnoses: diagnoseQuarantinedPaymentEvents(db),
      routes: (tiers: Tiers) => {
        paymentIntentRoutes(
          tiers,
          createPaymentIntentService({
            db,
            secrets,
            providers,
            starter,
            sender,
            refreshPayment,
            attempts,
            guard: async (tx, payment) => guard?.(tx, payment),
            follow: async orderId => follow?.(orderId)
          }),
          settings.intents_per_minute
        )
        paymentMethodRoutes(tiers, providers)
        paymentCallbackRoutes(tiers, callbacks)
        paymentQuarantineRoutes(tiers, createPaymentQuarantineService({ db, wake: wakeEvent }))
        paymentReconciliationRoutes(tiers, createReadReconciliationStatus({ db, providers }))
        paymentRoutes(tiers, createPaymentService({ db, providers, sender, refunds, recorder }))
      },
      jobHandlers: {
        'payments.send_operation': ({ payload }) => sender.send(payload.operation_id),
        'payments.reconcile': (_job, signal) => runReconciler(signal),
        'payments.watch_expiry': (_job, signal) => watchAuthorizations(signal),
        'payments.apply_event': ({ payload }) => callbacks.apply(payload.id)
      },
      stop
    }
  }
})
