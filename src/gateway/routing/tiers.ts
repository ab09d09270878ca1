import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  ContextConfigDefault,
  FastifySchema,
  RawServerDefault,
  RouteHandlerMethod,
  RouteShorthandOptions
} from 'fastify'
import type { ErrorKind } from '../../kernel/errors.ts'

/**
 * Priority of a request. Under overload, paying and ordering come first, then carts and accounts, then browsing, then
 * imports and exports. The class also sets the deadline of the request.
 * @example
 * const config = { class: 'browse' satisfies RequestClass }
 */
export type RequestClass = 'checkout' | 'account' | 'browse' | 'bulk'

/**
 * How a handler receives the body: parsed from JSON; as raw bytes of any type, up to 256 KiB, for signed callbacks; or as
 * a stream of one media type.
 * @example
 * const csv: BodyKind = { stream: 'text/csv', bytesMax: 1_048_576 }
 */
export type BodyKind = 'json' | 'bytes' | { readonly stream: string; readonly bytesMax: number }

/**
 * Requests per minute and caller, in addition to the tier's limit. Routes of a module with the same `name` share it.
 * @example
 * const limit: RouteLimit = { name: 'wish', perMinute: 30 }
 */
export type RouteLimit = {
  readonly name: string
  readonly perMinute: number
  /** Requests with this header do not count towards the limit. */
  readonly without?: string
}

/** Headers that modules declare. */
export type ModuleRequestHeaders = {
  /** Request headers that identify a caller without an account. */
  readonly credentialHeaders: readonly string[]
  /** Request headers that choose a variant of the response, for every caller alike. */
  readonly varyHeaders: readonly string[]
}

/**
 * Properties of a route that the gateway applies.
 * @example
 * const config: RouteConfig<'json'> = { class: 'account', countsAs: 2, errors: ['not_found'] }
 */
export type RouteConfig<B extends BodyKind = BodyKind> = {
  readonly class: RequestClass
  /** `json` when left out. */
  readonly body?: B
  readonly limit?: RouteLimit
  /**
   * How many requests one request to this route counts as in the tier's limit, in addition to its bytes. The default is 1.
   * Requests that take more CPU than two writes to a cart count as more.
   */
  readonly countsAs?: number
  /** `public`: every caller gets the same response, so caches may store it. Only on the tiers `public` and `wellKnown`. */
  readonly cache?: 'public'
  /** Responses with this status (`any`: any 2xx) contain a secret and are not stored: a retry runs the handler again. */
  readonly secret?: 200 | 201 | 'any'
  /** Kinds of errors for the API document that the tier, path and body do not imply. */
  readonly errors?: readonly ErrorKind[]
  /** Marks a route that takes no `If-Match` although its response has a version, because it creates the object. */
  readonly unversioned?: true
  /** Why an unsafe route needs no `writeOf(request)`. It then takes no `If-Match`. */
  readonly noReplay?: string
  /** On the admin tier: only administrators without scopes, who manage all modules. */
  readonly requiresFullAccess?: true
  /** On the admin tier: administrators with any scopes, because the route concerns their own account. */
  readonly anyScope?: true
  /** On the admin tier: rejects API keys, because the route grants or revokes permissions, or an account. */
  readonly isUsersOnly?: true
  /** On the secured tier: accepts API keys too, because the route does not act for their owner. */
  readonly allowsApiKeys?: true
  /** Requires a login within the last five minutes. API keys never have one. */
  readonly recentLogin?: 'all' | 'administrators'
  /** Open to administrators who still have to enrol a required second factor. All other routes reject them. */
  readonly beforeEnrolment?: true
  /** Why an unsafe route for shoppers works while the shop is in maintenance. */
  readonly allowedInMaintenance?: string
}

type BodyOf<B extends BodyKind> = B extends 'json' ? unknown : B extends 'bytes' ? Buffer : Readable
type Options<B extends BodyKind, S extends FastifySchema> = RouteShorthandOptions<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  { Body: BodyOf<B> },
  ContextConfigDefault,
  S,
  TypeBoxTypeProvider
>
type Handler<B extends BodyKind, S extends FastifySchema> = RouteHandlerMethod<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  { Body: BodyOf<B> },
  ContextConfigDefault,
  S,
  TypeBoxTypeProvider
>

/** Mounts a route. Its schemas and the kind of its body type the handler. */
type Verb = <const S extends FastifySchema, const B extends BodyKind = 'json'>(
  path: string,
  options: { readonly config: RouteConfig<B> } & Pick<Options<B, S>, 'schema' | 'onRequest' | 'preHandler'>,
  handler: Handler<B, S>
) => void

/**
 * Mounts routes by method.
 * @example
 * const mount = (tier: Tier) => tier.get('/wishlist', { config: { class: 'account' } }, async () => ({ items: [] }))
 */
export type Tier = {
  readonly get: Verb
  readonly post: Verb
  readonly put: Verb
  readonly patch: Verb
  readonly delete: Verb
}

/**
 * The tiers of routes. The first three are under `/api`. The tier decides who may call a route; `admin` requires all that
 * `secured` requires.
 * @example
 * const routes = ({ secured }: Tiers) =>
 *   secured.get('/wishlist', { config: { class: 'account' } }, async request => identityOf(request).userId)
 */
export type Tiers = {
  /** Every caller. */
  readonly public: Tier
  /** A valid access token of a user. API keys only on routes with `allowsApiKeys`. */
  readonly secured: Tier
  /** A valid access token and the role admin. */
  readonly admin: Tier
  /** Outside `/api`: documents at fixed addresses such as `/.well-known/jwks.json`, with the rate limit of pages. */
  readonly wellKnown: Tier
}
