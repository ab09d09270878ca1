import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP, SocketAddress } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import { clientNotTrusted, malformedShopperAddress } from '../errors.ts'
import { networkOf } from './rate-limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The shopper for whom a trusted shop front asks; `null` when somebody asks for themselves. */
    shopperAddress: string | null
  }
}

const CLIENT = 'x-cartwright-client'
const SHOPPER = 'x-shopper-address'

/**
 * For whom a request counts. A shop front that renders on a server asks for all of its shoppers from one address: it
 * proves with a secret that it may say who they are, and limits then count them instead.
 */
export function createShoppers({ trusted_clients, trust_proxy }: Config['server']) {
  const secrets = trusted_clients.map(digestOf)
  const mayAskForOthers = trust_proxy || secrets.length > 0

  /** All are compared, each in the same time, whichever it is. */
  const isTrusted = (secret: string): boolean => {
    const digest = digestOf(secret)
    return secrets.filter(each => timingSafeEqual(each, digest)).length > 0
  }

  /** @throws `CLIENT_NOT_TRUSTED`, `MALFORMED_SHOPPER_ADDRESS` */
  function addressIn(headers: IncomingHttpHeaders): string | null {
    const { [CLIENT]: secret, [SHOPPER]: address } = headers
    if (secret === undefined && address === undefined) return null
    if (!isTrusted(String(secret ?? ''))) throw clientNotTrusted()
    const family = isIP(String(address))
    if (family === 0) throw malformedShopperAddress()
    // Written as Node writes those of connections, so that it counts with them.
    return new SocketAddress({ address: String(address), family: family === 6 ? 'ipv6' : 'ipv4' }).address
  }

  function forwardedAddress(headers: IncomingHttpHeaders): string | undefined {
    const forwarded = trust_proxy ? headers['x-forwarded-for'] : undefined
    return typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined
  }

  return {
    /** A hook. Whoever has the wrong secret is refused, and not counted as one of many behind one address. */
    note(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
      try {
        request.shopperAddress = addressIn(request.headers)
      } catch (error) {
        return done(error as Error)
      }
      done()
    },

    /** The network that a request counts for, where its headers name another than that of its connection. */
    networkOf(request: IncomingMessage): string | undefined {
      // Node reads headers when somebody asks for one, which costs a refusal 1 us.
      if (!mayAskForOthers) return undefined
      try {
        const { headers } = request
        const address = addressIn(headers) ?? forwardedAddress(headers)
        return address === undefined ? undefined : networkOf(address)
      } catch {
        // It will be refused anyway.
        return undefined
      }
    }
  }
}
export type Shoppers = ReturnType<typeof createShoppers>

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')
