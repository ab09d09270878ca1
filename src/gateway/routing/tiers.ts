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
 * What a request is for: paying and ordering before carts and accounts, those before browsing, and imports and exports
 * last. It decides who is refused first when there is too much to do, and how long a request may take.
 */
export type RequestClass = 'checkout' | 'account' | 'browse' | 'bulk'

/**
 * How a handler gets the body: parsed from JSON; as the bytes that were sent, of any type and up to 256 KiB, for
 * callbacks that are signed; or as a stream of one media type.
 */
export type BodyKind = 'json' | 'bytes' | { readonly stream: string; readonly bytesMax: number }

/** Requests a minute and caller, within the tier's limit. Routes of a module that name the same one share it. */
export type RouteLimit = {
  readonly name: string
  readonly perMinute: number
  /** Only requests without this header count. */
  readonly without?: string
}

/** Headers that modules declare. */
export type ModuleHeaders = {
  /** They prove who somebody without an account is. */
  readonly capabilities: readonly string[]
  /** They choose the terms of an answer, whoever asks. */
  readonly contexts: readonly string[]
}

/** What is special about a route. The gateway reads it; the handler need not know. */
export type RouteConfig<B extends BodyKind = BodyKind> = {
  readonly class: RequestClass
  /** `json` when left out. */
  readonly body?: B
  readonly limit?: RouteLimit
  /**
   * How many requests one counts as in the limit of its tier, beside its bytes; 1 when left out. For what costs more CPU than
   * two writes to a cart.
   */
  readonly countsAs?: number
  /** Every caller gets the same answer, so that caches may keep it. Only for routes of the public tier, and well-known ones. */
  readonly cache?: 'public'
  /** With this status, or any good one, its answer holds a secret and is not kept: a repeated request is answered anew. */
  readonly secret?: 200 | 201 | 'any'
  /** Kinds of errors that do not follow from the tier, path and body, such as a 404 for an id in the body. For the document. */
  readonly errors?: readonly ErrorKind[]
  /** Its answer has a version, and what it makes has none that could be compared: it takes no `If-Match`. */
  readonly unversioned?: true
  /** Why a route that may change something hands no write on. Then it takes no `If-Match`. */
  readonly unwritten?: string
  /** On the admin tier: only for administrators who are limited to no modules. */
  readonly wholeShop?: true
  /** On the admin tier: for administrators with any scopes, because it is about their own account. */
  readonly anyScope?: true
  /** On the admin tier: tokens of API keys do not open it, because it gives rights, or takes them, or an account. */
  readonly forPeople?: true
  /** On the secured tier: tokens of API keys open it, too, because nothing is done in the name of their owner. */
  readonly forMachines?: true
  /** Requires a log-in of the last five minutes, of every caller or only of administrators. API keys never have one. */
  readonly recentLogin?: 'everyone' | 'administrators'
  /** Open to administrators who need a second factor and have not enrolled one. Every other route is closed to them. */
  readonly beforeEnrolment?: true
  /** Why a route of shoppers that is not safe is answered while the shop is in maintenance. */
  readonly inMaintenance?: string
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

/** Mounts a route; its handler is typed by the schemas, and by the kind of its body. */
type Verb = <const S extends FastifySchema, const B extends BodyKind = 'json'>(
  path: string,
  options: { readonly config: RouteConfig<B> } & Pick<Options<B, S>, 'schema' | 'onRequest' | 'preHandler'>,
  handler: Handler<B, S>
) => void

/** Where routes are mounted: five verbs. What else there is to say about a route, its declaration says. */
export type Tier = {
  readonly get: Verb
  readonly post: Verb
  readonly put: Verb
  readonly patch: Verb
  readonly delete: Verb
}

/**
 * The three groups under `/api`, shared by all modules. The tier is the first word of a route's line, and the only
 * thing that decides who gets in: `admin` asks for all that `secured` asks for.
 */
export type Tiers = {
  /** Anybody. */
  readonly public: Tier
  /** A valid access token of a person; of a machine where the route says `forMachines`. */
  readonly secured: Tier
  /** A valid access token and the role admin. */
  readonly admin: Tier
  /** Outside `/api`, for documents with a fixed address such as `/.well-known/jwks.json`; limited as pages are. */
  readonly wellKnown: Tier
}
