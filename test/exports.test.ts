import { expect, test } from 'vitest'
import { hasGeneratedExample } from './module-commands/generated-examples.ts'
import { readPublicExports } from './support/public-exports.ts'

/** What modules in other repositories may import: removing a name or changing its meaning breaks them. */
const PUBLIC = `
  BodyKind CatalogApi Config Database DomainError Emit Enqueue ErrorDefinition ErrorExtra
  ErrorKind EventFollowUp EventHandler EventType IdempotentWrite Identity InventoryApi JobDelivery JobHandler JobType Module Offer OperatorError Page Platform
  OrdersApi PaymentsApi PricingApi Queryable RequestClass ReviewsApi RouteConfig RouteLimit RowOf RunningShop ShippingApi Shop ShopOptions Statement StatementResultRow Static TSchema
  Tier Tiers Transaction Type adminModule authModule cartMergedEvent cartModule catalogChangedEvent
  catalogModule createShop defineError defineEvent defineJob defineModule found identityOf inventoryModule
  TenderCover TenderProvider TenderQuery TenderRefund tenderPort derivedId NotificationsApi createRequestBudget definePort provide Port PortProvider PortReader isId json newId newWrite newestFirst notificationsModule nullableJson nullableOneOf oneOf ordersModule paymentsModule pricingModule productChangedEvent readPage reviewPublishedEvent reviewSubmittedEvent reviewsModule runCli settings shippingModule
  apiKeyCreatedEvent countUpTo dataRequestedEvent emailChangedEvent orderErasedEvent orderEvictedEvent passwordChangedEvent passwordResetRequestedEvent secondFactorChangedEvent userDeletedEvent verificationRequestedEvent stockCrossedEvent stockLostEvent stockShortEvent stockTakenEvent orderCanceledEvent
  orderClaimedEvent orderCreatedEvent orderCreditedEvent orderPlacedEvent orderShipmentVoidedEvent orderShippedEvent unpaidStockHighEvent authorizationExpiringEvent paymentAuthorizedEvent paymentDisputedEvent
  paymentFailedEvent paymentPaidEvent paymentRefundedEvent refundFailedEvent pricesChangedEvent shipmentCorrectedEvent shipmentDeliveredEvent shipmentReturnedEvent
  endpointDisabledEvent PayloadOf
  CustomerPaymentStep ParsedPaymentProviderResponse PaymentCallbackSignatureStatus PaymentFact PaymentForProvider PaymentProvider PaymentProviderCallbackEvent
  PaymentProviderEvent PaymentProviderOperation paymentProviderPort UnreadablePaymentCallbackEvent UnreadablePaymentProviderObject
  standardModules statement userRegisteredEvent version webhooksModule wire writeOf writeOfJob Buyer PlaceOrderInput assistedBuyerOfRequest customerBuyerOfRequest guestBuyerOfRequest
  MailSendError NotificationTransport OutgoingMessage notificationTransportPort
  FieldAudience ProvidedField Resource ResourceField categoryResource extendResource orderResource productResource provideField userResource variantResource
  LabelRecipient LabelRequest LabelResult ShippingLabelProvider shippingLabelsPort ParcelToRate ProviderRate ShippingRateProvider shippingRatesPort
  OrderCheck PurchaseRefusal PurchaseToCheck orderCheckPort
  
  ComponentTax TaxEngine TaxRequest TaxableComponent taxEnginePort

  settings.SettingProblem settings.SettingsOf settings.booleanSetting settings.integerSetting settings.secretSetting settings.settingsSection settings.textSetting
  settings.urlWithPasswordSetting

  wire.Amount wire.Country wire.Currency wire.Day wire.Id wire.IdParams wire.MarketHeaders wire.MarketQuery
  wire.MarketRequest wire.PageQuery wire.TaxCategory wire.Time wire.Version wire.amount wire.input
  wire.line wire.listOf wire.marketParameters wire.noContent wire.nullable wire.pageQuery wire.patchRequest
  wire.recursiveResponse wire.requestedMarket wire.withResponseDescription
  wire.request wire.response`

test('the package exports exactly the names in the list, each with a doc comment and an example', () => {
  const found = readPublicExports()
  const ofIndex = found.filter(({ entry }) => entry === 'cartwright')
  expect(ofIndex.map(({ name }) => name).sort()).toEqual(PUBLIC.trim().split(/\s+/).sort())
  expect(found.filter(({ text }) => text === '').map(({ name }) => name)).toEqual([])
  const withoutExample = found.filter(each => each.example === undefined && !hasGeneratedExample(each))
  expect(withoutExample.map(({ name }) => name)).toEqual([])
})

test('the example of an exported value asserts something', () => {
  const silent = readPublicExports().filter(
    ({ kind, example }) => kind !== 'type' && example !== undefined && !/\bassert\b/.test(example)
  )
  expect(silent.map(({ name }) => name)).toEqual([])
})
