// The public API of the package, for shops and for modules in other repositories. Everything that is not exported here may
// change in any version.

export { standardModules } from './app.ts'
export { runCli } from './cli/commands.ts'
export type { Config } from './config.ts'
export { type Identity, identityOf } from './gateway/callers/identity.ts'
export type { BodyKind, RequestClass, RouteConfig, RouteLimit, Tier, Tiers } from './gateway/routing/tiers.ts'
export { writeOf } from './gateway/writes/write.ts'
export {
  DomainError,
  defineError,
  type ErrorDefinition,
  type ErrorExtra,
  type ErrorKind,
  found,
  OperatorError
} from './kernel/errors.ts'
/** Events that a module emits and subscribes to, and jobs that it enqueues. */
export {
  defineEvent,
  defineJob,
  type EventType,
  type JobDelivery,
  type JobType,
  type PayloadOf
} from './kernel/events.ts'
export { derivedId, isId, newId } from './kernel/ids.ts'
export { newestFirst, type Page, readPage } from './kernel/pages.ts'
/** Ports of modules, and their providers. */
export { definePort, type Port, type PortProvider, type PortReader, provide } from './kernel/ports.ts'
export { createRequestBudget } from './kernel/request-budget.ts'
/** Fields on resources of other modules. */
export {
  extendResource,
  type FieldAudience,
  type Resource,
  type ResourceField
} from './kernel/resources.ts'
/**
 * Schemas in JSON Schema, built and typed as TypeBox does: `Type.Array(...)`, and `Static<typeof Schema>` for the type of its values.
 * @example
 * const Wish: TSchema = Type.Object({ note: Type.String({ maxLength: 200 }) })
 * assert.deepEqual(Object.keys(Wish), ['type', 'properties', 'required'])
 * const Note = Type.Union([Type.String(), Type.Null()])
 * const note: Static<typeof Note> = null
 * assert.equal(note, null)
 */
export { type Static, type TSchema, Type } from './kernel/schema.ts'
/**
 * Builders of a module's settings: `settings.settingsSection('Wishlists.', { wishes_max: settings.integerSetting('…', 100) })`.
 * @example
 * const section = settings.settingsSection('Wishlists.', { wishes_max: settings.integerSetting('Most wishes.', 9) })
 * assert.deepEqual(Object.keys(section.properties), ['wishes_max'])
 */
export * as settings from './kernel/settings.ts'
/**
 * Schemas of requests and responses: `wire.request`, `wire.response`, `wire.Id`, `wire.listOf`.
 * @example
 * const WishResponse = wire.response('WishResponse', { id: wire.Id, wished_at: wire.Time })
 * assert.deepEqual(Object.keys(WishResponse.properties), ['id', 'wished_at'])
 */
export * as wire from './kernel/wire.ts'
export { defineModule, type Module, type ProvidedField, provideField } from './module.ts'
export { adminModule } from './modules/admin/index.ts'
export {
  apiKeyCreatedEvent,
  authModule,
  emailChangedEvent,
  passwordChangedEvent,
  passwordResetRequestedEvent,
  secondFactorChangedEvent,
  userDeletedEvent,
  userRegisteredEvent,
  userResource,
  verificationRequestedEvent
} from './modules/auth/index.ts'
export { cartMergedEvent, cartModule } from './modules/cart/index.ts'
export {
  type CatalogApi,
  catalogChangedEvent,
  catalogModule,
  categoryResource,
  type Offer,
  productChangedEvent,
  productResource,
  variantResource
} from './modules/catalog/index.ts'
export {
  type InventoryApi,
  inventoryModule,
  stockCrossedEvent,
  stockLostEvent,
  stockShortEvent,
  stockTakenEvent
} from './modules/inventory/index.ts'
export {
  MailSendError,
  type NotificationsApi,
  type NotificationTransport,
  notificationsModule,
  notificationTransportPort,
  type OutgoingMessage
} from './modules/notifications/index.ts'
export {
  assistedBuyerOfRequest,
  type Buyer,
  customerBuyerOfRequest,
  dataRequestedEvent,
  guestBuyerOfRequest,
  type OrderCheck,
  type OrdersApi,
  orderCanceledEvent,
  orderCheckPort,
  orderClaimedEvent,
  orderCreatedEvent,
  orderCreditedEvent,
  orderErasedEvent,
  orderEvictedEvent,
  orderPlacedEvent,
  orderResource,
  orderShipmentVoidedEvent,
  orderShippedEvent,
  ordersModule,
  type PlaceOrderInput,
  type PurchaseRefusal,
  type PurchaseToCheck,
  type TenderCover,
  type TenderProvider,
  type TenderQuery,
  type TenderRefund,
  tenderPort,
  unpaidStockHighEvent
} from './modules/orders/index.ts'
export {
  authorizationExpiringEvent,
  type CustomerPaymentStep,
  type ParsedPaymentProviderResponse,
  type PaymentCallbackSignatureStatus,
  type PaymentFact,
  type PaymentForProvider,
  type PaymentProvider,
  type PaymentProviderCallbackEvent,
  type PaymentProviderEvent,
  type PaymentProviderOperation,
  type PaymentsApi,
  paymentAuthorizedEvent,
  paymentDisputedEvent,
  paymentFailedEvent,
  paymentPaidEvent,
  paymentProviderPort,
  paymentRefundedEvent,
  paymentsModule,
  refundFailedEvent,
  type UnreadablePaymentCallbackEvent,
  type UnreadablePaymentProviderObject
} from './modules/payments/index.ts'
export {
  type ComponentTax,
  type PricingApi,
  pricesChangedEvent,
  pricingModule,
  type TaxableComponent,
  type TaxEngine,
  type TaxRequest,
  taxEnginePort
} from './modules/pricing/index.ts'
export {
  type ReviewsApi,
  reviewPublishedEvent,
  reviewSubmittedEvent,
  reviewsModule
} from './modules/reviews/index.ts'
export {
  type LabelRecipient,
  type LabelRequest,
  type LabelResult,
  type ParcelToRate,
  type ProviderRate,
  type ShippingApi,
  type ShippingLabelProvider,
  type ShippingRateProvider,
  shipmentCorrectedEvent,
  shipmentDeliveredEvent,
  shipmentReturnedEvent,
  shippingLabelsPort,
  shippingModule,
  shippingRatesPort
} from './modules/shipping/index.ts'
export { endpointDisabledEvent, webhooksModule } from './modules/webhooks/index.ts'
export { type IdempotentWrite, newWrite, writeOfJob } from './platform/idempotency/write.ts'
export type { EventFollowUp, EventHandler, JobHandler } from './platform/outbox/handlers.ts'
export type { Emit, Enqueue } from './platform/outbox/outbox.ts'
export type { Platform } from './platform/platform.ts'
export { countUpTo } from './platform/postgres/counting.ts'
export type { Database, Queryable, Transaction } from './platform/postgres/database.ts'
export {
  json,
  nullableJson,
  nullableOneOf,
  oneOf,
  type RowOf,
  type Statement,
  type StatementResultRow,
  statement
} from './platform/postgres/statement.ts'
export { createShop, type RunningShop, type Shop, type ShopOptions } from './shop.ts'
export { version } from './version.ts'
