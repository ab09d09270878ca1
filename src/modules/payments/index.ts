import type { Tiers } from '../../gateway/routing/tiers.ts'
import { derivedId } from '../../kernel/ids.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { createAccounts, type NewAccount, type OrderCapture, type OrderRefund } from './accounts/service.ts'
import { eraseOldNetworks } from './attempts/repository.ts'
import { createAttempts } from './attempts/service.ts'
import { eraseOldRaw } from './callbacks/repository.ts'
import { callbackRoutes } from './callbacks/routes.ts'
import { createCallbackService } from './callbacks/service.ts'
import { diagnoseEvents, diagnosePayments } from './diagnosis.ts'
import { forget, paymentsOfPeople } from './erasure/service.ts'
import { paymentEvents } from './events.ts'
import { createExpiryWatch } from './expiry/watch.ts'
import { createRecorder, type PaymentChange, type PaymentListener } from './facts/recorder.ts'
import type { AccountRow } from './facts/repository.ts'
import { figures, type MoneyFigures, quarantined } from './figures/service.ts'
import { intentRoutes } from './intents/routes.ts'
import { createIntentService, type PaymentFollower, type PaymentGuard } from './intents/service.ts'
import { methodRoutes } from './methods/routes.ts'
import { createInquiry } from './operations/inquiry.ts'
import { applyEvent, reconcile, sendOperation, watchExpiry } from './operations/jobs.ts'
import { createReconciler, hastenAll } from './operations/reconciler.ts'
import { insertOperations } from './operations/repository.ts'
import { createSender } from './operations/sender.ts'
import { createRefunds, type Refunder, type Refunds } from './payments/refunds.ts'
import { paymentRoutes } from './payments/routes.ts'
import { createPaymentService } from './payments/service.ts'
import { type Choice, createStarter } from './payments/start.ts'
import { openProviders } from './providers/open.ts'
import { createHearing } from './quarantine/hearing.ts'
import { quarantineRoutes } from './quarantine/routes.ts'
import { createQuarantineService } from './quarantine/service.ts'
import type { ReconcileReport } from './reconciliation/report.ts'
import { createReconciliation, type ReconcileOptions } from './reconciliation/service.ts'
import { paymentsSettings } from './settings.ts'

export { isOrderToken, orderToken } from './accounts/token.ts'
export {
  authorizationExpiring,
  paymentAuthorized,
  paymentDisputed,
  paymentFailed,
  paymentPaid,
  paymentRefunded,
  refundFailed
} from './events.ts'

import { validatePayments } from './validation.ts'

export type { MoneyFigures, PaymentChange, PaymentGuard, PaymentListener, ReconcileReport, Refunder }

const NETWORK_MS = 86_400_000
const SWEEP_SECONDS = 3_600
const RAW_DAYS = 90

/** What orders ask of payments, which know an order by its id alone. Whoever locks both locks the account first. */
export type PaymentsApi = {
  /**
   * Registers what runs in each transaction in which facts of a payment are recorded, and what runs before a buyer begins a
   * payment of an order that is there already; and what runs outside of any transaction when a buyer is back from paying. One, at set-up.
   */
  listen(listener: PaymentListener, guard?: PaymentGuard, follow?: PaymentFollower): void
  /** There is something to be paid for an order. With `first`, the payment that has the order's own id is begun, too, and its method returned. */
  open(tx: Transaction, account: NewAccount, first?: Choice): Promise<string | undefined>
  /** Asks the providers for what was decided in a transaction before; what they say is recorded when this returns. */
  proceed(orderId: string): Promise<void>
  /** Nothing more is taken. When the change says that all is settled the order can be canceled, else when a later one does. */
  freeze(tx: Transaction, orderId: string): Promise<PaymentChange>
  thaw(tx: Transaction, orderId: string): Promise<void>
  /** Another amount is to be paid: open payments that ask for more, and hold nothing, are let go of. */
  changeDue(tx: Transaction, orderId: string, dueMinor: number): Promise<PaymentChange>
  /** The version of the order's next token; with a customer, the order is theirs from now on. */
  reissue(tx: Transaction, orderId: string, customerId: string | null): Promise<number>
  /** Nothing says any more that these orders were this customer's (null: guests'); what was paid stays. Locks the accounts, in one order. */
  forget(tx: Transaction, customerId: string | null, orderIds: readonly string[]): Promise<void>
  /** Holds the account until `tx` ends: before the order itself is locked. `undefined`: the order has none. */
  lock(tx: Transaction, orderId: string): Promise<AccountRow | undefined>
  /** How it may still be paid: the methods of payments that are open. */
  openMethods(tx: Transaction, orderId: string): Promise<string[]>
  /** Takes so much of what is held, if anything is, and lets go of the rest. */
  capture(tx: Transaction, orderId: string, capture: OrderCapture): Promise<void>
  /** Gives back so much of what was taken. @throws `PAYMENT_REFUND_TOO_MUCH` */
  refund(tx: Transaction, orderId: string, refund: OrderRefund): Promise<void>
  /** Whether the caller may refund so much more of an account. @throws `PAYMENT_REFUND_LIMIT`, `AUTH_RECENT_LOGIN_REQUIRED` */
  requireRefundRight: Refunds['requireRight']
  /** @throws `PAYMENT_ORDER_NOT_FOUND` */
  find(db: Queryable, orderId: string): Promise<AccountRow>
  /** What was taken and given back in days that begin at these times, and end with the next one or at `end`. Two statements. */
  figures(db: Queryable, starts: readonly Date[], end: Date): Promise<MoneyFigures>
  /** How many events of providers are quarantined. */
  quarantined(db: Queryable): Promise<number>
  /** What providers have done since then and is not known here; with `record`, it is known then. */
  reconcile(options: ReconcileOptions, onProgress?: (looked: number) => void): Promise<ReconcileReport>
}

/** How orders are paid. */
export const paymentsModule = defineModule({
  name: 'payments',
  description: 'How orders are paid, and what became of it.',
  basePaths: ['/api/payments', '/api/admin/payments'],
  settings: paymentsSettings,
  validate: validatePayments,
  capabilities: ['x-order-token'],
  requires: {},
  uses: {},
  emits: paymentEvents,
  jobs: [sendOperation, reconcile, applyEvent, watchExpiry],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: true,
  diagnose: diagnosePayments,
  setup: async ({ db, chores, config, emit, enqueue, http, log, metrics, secrets }, settings) => {
    const { providers, stop } = openProviders({
      ...{ config, settings, http, secrets },
      onBack: provider => {
        hastenAll(db, provider).catch(error => log.warn({ err: error, provider }, 'operations wait on'))
      }
    })

    let listener: PaymentListener | undefined
    let guard: PaymentGuard | undefined
    let follow: PaymentFollower | undefined
    const wakeOperation = (tx: Transaction, operation_id: string) =>
      enqueue(tx, sendOperation, { operation_id }, { subject: operation_id })
    const paused = metrics.counter('attempts_refused', 'Payments refused because too many attempts failed.', {
      subject: ['network', 'order']
    })
    const attempts = createAttempts({
      secrets,
      failuresMax: settings.failed_attempts_per_hour,
      count: subject => paused.add({ subject })
    })
    const recorder = createRecorder({
      isPaused: attempts.isPaused,
      listener: () => listener,
      teller: (tx, orderId) => (event, payload) => emit(tx, event, orderId, payload),
      voidOpen: async (tx, payments, reason) => {
        const ids = payments.map(({ id, voids }) => derivedId(id, `void:${voids}`))
        const wanted = { ids, paymentIds: payments.map(({ id }) => id), amounts: payments.map(() => 0) }
        await tx.run(insertOperations, { ...wanted, kind: 'void', reason, actor: null })
        for (const id of ids) wakeOperation(tx, id)
      }
    })
    const hear = createHearing({ secrets, recorder })
    const inquire = createInquiry({ db, providers, recorder, hear })
    const sender = createSender({ db, secrets, providers, recorder, hear })
    const refunds = createRefunds(settings.refunds)
    const starter = createStarter(providers, attempts)
    const accounts = createAccounts({ recorder, starter, refunds, attempts, wake: wakeOperation })
    const events = metrics.counter('callbacks', 'What providers called back with.', {
      result: ['received', 'repeated', 'refused', 'quarantined']
    })
    const wakeEvent = (tx: Transaction, id: string) => enqueue(tx, applyEvent, { id }, { subject: id })
    const callbacks = createCallbackService({
      ...{ db, secrets, providers, recorder },
      wake: wakeEvent,
      count: result => events.add({ result })
    })
    const runReconciler = createReconciler({ db, log, sender, callbacks, providers, inquire })
    const takes = settings.capture_before_expiry === 'capture'
    const runExpiryWatch = createExpiryWatch({ db, log, emit, wake: wakeOperation, takes })
    chores.sweep(SWEEP_SECONDS, 'erase networks of old payments', () =>
      db.run(eraseOldNetworks, { before: new Date(Date.now() - NETWORK_MS) })
    )
    chores.sweep(SWEEP_SECONDS, 'erase old payment callbacks', () => db.run(eraseOldRaw, { days: RAW_DAYS }))

    const api: PaymentsApi = {
      ...accounts,
      requireRefundRight: refunds.requireRight,
      figures,
      quarantined,
      forget,
      listen: (wanted, wantedGuard, wantedFollow) => {
        listener = wanted
        guard = wantedGuard
        follow = wantedFollow
      },
      proceed: sender.sendAllOf,
      reconcile: createReconciliation({ db, secrets, providers, recorder, hear })
    }
    return {
      api,
      people: paymentsOfPeople(db),
      diagnoses: diagnoseEvents(db),
      routes: (tiers: Tiers) => {
        intentRoutes(
          tiers,
          createIntentService({
            ...{ db, secrets, providers, starter, sender, inquire, attempts },
            guard: async (tx, payment) => guard?.(tx, payment),
            follow: async orderId => follow?.(orderId)
          }),
          settings.intents_per_minute
        )
        methodRoutes(tiers, providers)
        callbackRoutes(tiers, callbacks)
        quarantineRoutes(tiers, createQuarantineService({ db, wake: wakeEvent }))
        paymentRoutes(tiers, createPaymentService({ db, providers, sender, refunds, recorder }))
      },
      handlers: {
        'payments.send_operation': ({ payload }) => sender.send(payload.operation_id),
        'payments.reconcile': (_job, signal) => runReconciler(signal),
        'payments.watch_expiry': (_job, signal) => runExpiryWatch(signal),
        'payments.apply_event': ({ payload }) => callbacks.apply(payload.id)
      },
      stop
    }
  }
})
