import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'

/** Where routes are mounted: a Fastify instance whose handlers are typed by their schemas. */
export type Tier = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/**
 * The three groups under `/api`, shared by all modules. The tier is the first word of a route's line, and the only
 * thing that decides who gets in: `admin` asks for all that `secured` asks for.
 */
export type Tiers = {
  /** Anybody. */
  readonly public: Tier
  /** A valid access token. */
  readonly secured: Tier
  /** A valid access token and the role admin. */
  readonly admin: Tier
  /** Outside `/api`, for documents with a fixed address such as `/.well-known/jwks.json`; not rate limited. */
  readonly wellKnown: Tier
}
