import type { Tiers } from '../../gateway/routing/tiers.ts'
import { derivedId } from '../../kernel/ids.ts'
import { keptForDays } from '../../kernel/retention.ts'
import { defineModule } from '../../module.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import { createOrderPaymentAccountChanges, type PaymentChangeListener } from './accounts/changes.ts'
import { orderPaymentHooksPort, type PaymentStartGuard } from './accounts/hooks.ts'
import { createOrderPaymentAccountLock, type LockedOrderPaymentAccount } from './accounts/locked-account.ts'
import { type OrderPayments, orderPaymentsOfApi, provideOrderPayments } from './accounts/order-payments.ts'
import { createOrderPaymentAccountService } from './accounts/service.ts'
import { paymentRoutes } from './administration/routes.ts'
import { createPaymentAdministration } from './administration/service.ts'
import type { PaymentsApi } from './api.ts'
import { eraseOldPaymentNetworks } from './attempt-limits/repository.ts'
import { createPaymentAttemptLimits } from './attempt-limits/service.ts'
import { createAuthorizationExpiryWatch } from './authorization-expiry/watch.ts'
import {
  diagnosePaymentMethods,
  diagnosePaymentSettings,
  diagnoseQuarantinedPaymentEvents
} from './diagnosis.ts'
import { erasePaymentData, paymentPersonalData } from './erasure/service.ts'
import { paymentEvents } from './events.ts'
import { type ChangedPaymentAccountState, createPaymentFactRecorder } from './facts/recorder.ts'
import { sumPaymentsByDay } from './facts/repository.ts'
import { paymentIntentRoutes } from './intents/routes.ts'
import { createPaymentIntentService } from './intents/service.ts'
import {
  applyProviderEventJob,
  reconcilePaymentsJob,
  sendPaymentOperationJob,
  watchAuthorizationExpiryJob
} from './operations/jobs.ts'
import { createPaymentReconciler, reschedulePaymentOperationsAndPolls } from './operations/reconciler.ts'
import { createPaymentRefresher } from './operations/refresh.ts'
import { createPaymentOperationSender } from './operations/sender.ts'
import { insertPaymentOperations } from './payments/operation-repository.ts'
import { createRefundService, type RefundActor } from './payments/refunds.ts'
import { findPaymentStartProblems } from './payments/shop-start-problems.ts'
import { createPaymentStarter } from './payments/start.ts'
import { paymentCallbackRoutes } from './provider-events/callback-routes.ts'
import { createPaymentCallbackService } from './provider-events/callback-service.ts'
import { paymentEventQuarantineRoutes } from './provider-events/quarantine-routes.ts'
import { createPaymentEventQuarantineService } from './provider-events/quarantine-service.ts'
import { countQuarantinedProviderEvents } from './provider-events/repository.ts'
import { createPaymentProviderResponseRecorder } from './provider-events/response-recorder.ts'
import { createEnabledPaymentProviders } from './providers/enabled.ts'
import { paymentMethodRoutes } from './providers/method-routes.ts'
import { paymentProviderPort } from './providers/port.ts'
import { createPaymentProviderRegistry } from './providers/registry.ts'
import { createPaymentReconciliationMetrics } from './reconciliation/metrics.ts'
import type { PaymentReconciliationReport } from './reconciliation/report.ts'
import { paymentReconciliationRoutes } from './reconciliation/routes.ts'
import { createPaymentProviderReconciliation } from './reconciliation/service.ts'
import { createPaymentReconciliationStatusReader } from './reconciliation/status.ts'
import { paymentsSettings } from './settings.ts'

export type { StartedPayment } from './accounts/service.ts'
export { deriveOrderToken, isValidOrderToken } from './accounts/token.ts'
export type { PaymentStatistics, PaymentsApi } from './api.ts'
export {
  authorizationExpiringEvent,
  paymentAuthorizedEvent,
  paymentDisputedEvent,
  paymentFailedEvent,
  paymentPaidEvent,
  paymentRefundedEvent,
  refundFailedEvent
} from './events.ts'
export type { PaymentFact } from './facts/fact.ts'
export type {
  CustomerPaymentStep,
  ParsedPaymentProviderResponse,
  PaymentCallbackSignatureStatus,
  PaymentForProvider,
  PaymentProvider,
  PaymentProviderCallbackEvent,
  PaymentProviderEvent,
  PaymentProviderOperation,
  UnreadablePaymentCallbackEvent,
  UnreadablePaymentProviderObject
} from './providers/port.ts'

import { validatePaymentSettings } from './validation.ts'

export type {
  ChangedPaymentAccountState,
  LockedOrderPaymentAccount,
  OrderPayments,
  PaymentChangeListener,
  PaymentReconciliationReport,
  PaymentStartGuard,
  RefundActor as Refunder
}
export { orderPaymentHooksPort, orderPaymentsOfApi, paymentProviderPort }

const SWEEP_SECONDS = 3_600
const STATUS_SECONDS = 60

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
  ports: [orderPaymentHooksPort, paymentProviderPort],
  provides: [paymentProviderPort],
  jobs: [sendPaymentOperationJob, reconcilePaymentsJob, applyProviderEventJob, watchAuthorizationExpiryJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  diagnose: diagnosePaymentSettings,
  setup: async (
    { db, timers, config, emit, enqueue, http, log, metrics, partitions, ports, secrets },
    settings
  ) => {
    const { provides, stop } = createEnabledPaymentProviders({ config, settings, http, secrets })
    const providers = createPaymentProviderRegistry({
      read: () => ports.all(paymentProviderPort),
      settings,
      onRecovered: provider => {
        reschedulePaymentOperationsAndPolls(db, provider).catch(error =>
          log.warn({ err: error, provider }, 'operations of a recovered provider could not be rescheduled')
        )
      }
    })

    const hooks = () => ports.only(orderPaymentHooksPort)
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
    const recorder = createPaymentFactRecorder({
      isLimited: attempts.isLimited,
      publisherOf: (tx, orderId) => (event, payload) => emit(tx, event, orderId, payload),
      voidOpen: async (tx, payments, reason) => {
        const ids = payments.map(({ id, voids }) => derivedId(id, `void:${voids}`))
        const wanted = { ids, paymentIds: payments.map(({ id }) => id), amounts: payments.map(() => 0) }
        await tx.run(insertPaymentOperations, { ...wanted, kind: 'void', reason, actor: null })
        for (const id of ids) wakeOperation(tx, id)
      }
    })
    const recordResponse = createPaymentProviderResponseRecorder({ secrets, recorder })
    const refunds = createRefundService({ limits: settings.refunds, providers })
    const lockAccount = createOrderPaymentAccountLock({
      providers,
      recorder,
      refunds,
      wake: wakeOperation
    })
    const accounts = createOrderPaymentAccountChanges({ lockAccount, listener: () => hooks()?.onChange })
    const refreshPayment = createPaymentRefresher({ db, providers, accounts, recordResponse })
    const sender = createPaymentOperationSender({
      db,
      secrets,
      providers,
      recorder,
      accounts,
      recordResponse
    })
    const starter = createPaymentStarter({ providers, attempts, secrets })
    const { openAccount, openAccountOfOrder, findAccount } = createOrderPaymentAccountService({
      starter,
      attempts,
      sender
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
      accounts,
      wake: wakeEvent,
      count: result => events.add({ result })
    })
    const reconciler = createPaymentReconciler({ db, log, sender, callbacks, providers, refreshPayment })
    const capturesExpiring = settings.capture_before_expiry === 'capture'
    const watchAuthorizations = createAuthorizationExpiryWatch({
      db,
      log,
      emit,
      providers,
      wake: wakeOperation,
      capturesExpiring
    })
    timers.untilEmpty(SWEEP_SECONDS, 'erase networks of old payments', () =>
      db.run(eraseOldPaymentNetworks, { before: keptForDays(1)(new Date()) })
    )
    partitions.keep({
      table: 'payments.event_bytes',
      period: 'month',
      keptSince: keptForDays(settings.callback_retention_days)
    })

    const readStatus = createPaymentReconciliationStatusReader({ db, providers })
    timers.every(
      STATUS_SECONDS,
      'payments.read_status',
      createPaymentReconciliationMetrics(metrics, readStatus)
    )

    const api: PaymentsApi = {
      openAccount,
      findAccount,
      sendOperations: sender.sendOpenOperations,
      statistics: (database, starts, end) =>
        database.rows(sumPaymentsByDay, { starts: starts.map(start => start.toISOString()), end }),
      countQuarantinedEvents: async database =>
        (await database.first(countQuarantinedProviderEvents))?.total ?? 0,
      reconcile: createPaymentProviderReconciliation({ db, secrets, providers, accounts, recordResponse })
    }
    provideOrderPayments(api, {
      openAccountOfOrder,
      lockAccount,
      sendOperations: sender.sendOpenOperations,
      erase: erasePaymentData
    })
    return {
      api,
      personalData: paymentPersonalData(db),
      diagnoses: [...diagnoseQuarantinedPaymentEvents(db), ...diagnosePaymentMethods(providers)],
      provides,
      findStartProblems: () => findPaymentStartProblems({ db, providers, settings }),
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
            guard: async (tx, payment) => hooks()?.beforeStart?.(tx, payment),
            follow: async orderId => hooks()?.onReturn?.(orderId)
          }),
          settings.intents_per_minute
        )
        paymentMethodRoutes(tiers, providers)
        paymentCallbackRoutes(tiers, callbacks)
        paymentEventQuarantineRoutes(tiers, createPaymentEventQuarantineService({ db, wake: wakeEvent }))
        paymentReconciliationRoutes(tiers, readStatus)
        paymentRoutes(tiers, createPaymentAdministration({ db, providers, sender, refunds, accounts }))
      },
      jobHandlers: {
        'payments.send_operation': ({ payload }) => sender.send(payload.operation_id),
        'payments.reconcile': (_job, signal) => reconciler.run(signal),
        'payments.watch_expiry': (_job, signal) => watchAuthorizations(signal),
        'payments.apply_event': ({ payload }) => callbacks.apply(payload.id)
      },
      hasWork: { 'payments.reconcile': reconciler.hasWork },
      stop
    }
  }
})
