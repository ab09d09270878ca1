import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const INDEX = fileURLToPath(new URL('../src/index.ts', import.meta.url))

/** What modules in other repositories may import: removing a name or changing its meaning breaks them. */
const PUBLIC = `
  BodyKind CatalogApi Config Database DomainError Emit Enqueue ErrorDefinition ErrorExtra
  ErrorKind EventHandler EventType IdempotentWrite Identity InventoryApi JobDelivery JobHandler JobType Module Offer OperatorError Page Platform
  OrdersApi PaymentsApi PricingApi Queryable RequestClass ReviewsApi RouteConfig RouteLimit RowOf RunningShop ShippingApi Shop ShopOptions Statement Static TSchema
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
  FieldAudience ProvidedField Resource ResourceField categoryResource extendResource orderResource productResource provideField userResource variantResource
  ParcelToRate ProviderRate ShippingRateProvider shippingRatesPort
  OrderCheck PurchaseRefusal PurchaseToCheck orderCheckPort

  settings.SettingProblem settings.SettingsOf settings.booleanSetting settings.integerSetting settings.secretSetting settings.settingsSection settings.textSetting
  settings.urlWithPasswordSetting

  wire.Amount wire.Country wire.Currency wire.Day wire.Id wire.IdParams wire.MarketHeaders wire.MarketQuery
  wire.MarketRequest wire.PageQuery wire.TaxCategory wire.Time wire.Version wire.amount wire.input
  wire.line wire.listOf wire.marketParameters wire.noContent wire.nullable wire.pageQuery wire.patchRequest
  wire.recursiveResponse wire.requestedMarket wire.withResponseDescription
  wire.request wire.response`

type Export = { name: string; isDescribed: boolean }

/** The exports of our own files, by the compiler; packages that they import are not looked into. */
function readExports(): Export[] {
  const options = {
    target: ts.ScriptTarget.ESNext,
    noLib: true,
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true
  }
  const host = ts.createCompilerHost(options)
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const resolvedFileName = join(dirname(from), text)
      return {
        resolvedModule: text.startsWith('.') ? { resolvedFileName, extension: ts.Extension.Ts } : undefined
      }
    })
  const program = ts.createProgram([INDEX], options, host)
  const checker = program.getTypeChecker()
  const exportsOf = (module: ts.Symbol, prefix: string): Export[] =>
    checker.getExportsOfModule(module).flatMap(symbol => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const name = prefix + symbol.name
      const isDescribed = target.getDocumentationComment(checker).length > 0 || saysWhat(symbol)
      const inner = target.flags & ts.SymbolFlags.ValueModule ? exportsOf(target, `${name}.`) : []
      return [{ name, isDescribed }, ...inner]
    })
  const index = program.getSourceFile(INDEX)
  return exportsOf(checker.getSymbolAtLocation(index as ts.SourceFile) as ts.Symbol, '')
}

/** Whether a comment stands over the line of `index.ts` that hands it on. */
const saysWhat = ({ declarations = [] }: ts.Symbol) =>
  declarations.some(each =>
    /^\/\*\*/.test(ts.findAncestor(each, ts.isExportDeclaration)?.getFullText().trim() ?? '')
  )

test('the package exports exactly the names in the list, each with a doc comment', () => {
  const found = readExports()
  expect(found.map(({ name }) => name).sort()).toEqual(PUBLIC.trim().split(/\s+/).sort())
  expect(found.filter(({ isDescribed }) => !isDescribed).map(({ name }) => name)).toEqual([])
})
