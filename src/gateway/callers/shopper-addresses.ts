import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP, SocketAddress } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../platform/core-settings.ts'
import { clientSecretNotTrustedError, malformedShopperAddressError } from '../errors.ts'
import { networkOfAddress } from './rate-limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Address of the shopper that a trusted shop front sent; `null` without one. */
    shopperAddress: string | null
  }
}

const CLIENT = 'x-cartwright-client'
const SHOPPER = 'x-shopper-address'

/**
 * Reads the shopper's address from requests of trusted shop fronts. A shop front that renders on a server sends requests of
 * many shoppers from one address. With a secret it may name the shopper, who is then rate limited instead.
 */
export function createShopperAddressReader({ trusted_clients, trust_proxy }: Config['server']) {
  const secrets = trusted_clients.map(digestOf)
  const readsHeaders = trust_proxy || secrets.length > 0

  /** Compares with all secrets, so that the time does not reveal which one matches. */
  const isTrusted = (secret: string): boolean => {
    const digest = digestOf(secret)
    return secrets.filter(each => timingSafeEqual(each, digest)).length > 0
  }

  /** @throws `CLIENT_NOT_TRUSTED`, `MALFORMED_SHOPPER_ADDRESS` */
  function addressIn(headers: IncomingHttpHeaders): string | null {
    const { [CLIENT]: secret, [SHOPPER]: address } = headers
    if (secret === undefined && address === undefined) return null
    if (!isTrusted(String(secret ?? ''))) throw clientSecretNotTrustedError()
    const family = isIP(String(address))
    if (family === 0) throw malformedShopperAddressError()
    // Normalized like the addresses of connections, because both share the limits.
    return new SocketAddress({ address: String(address), family: family === 6 ? 'ipv6' : 'ipv4' }).address
  }

  function forwardedAddress(headers: IncomingHttpHeaders): string | undefined {
    const forwarded = trust_proxy ? headers['x-forwarded-for'] : undefined
    return typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined
  }

  return {
    /** Hook that rejects a request with a wrong secret, instead of counting it for the shop front's address. */
    setShopperAddress(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
      try {
        request.shopperAddress = addressIn(request.headers)
      } catch (error) {
        return done(error as Error)
      }
      done()
    },

    /** Returns the network for rate limits if headers name another one than the connection's. */
    networkOf(request: IncomingMessage): string | undefined {
      // Node parses headers on first access, which costs 1 us of a refusal.
      if (!readsHeaders) return undefined
      try {
        const { headers } = request
        const address = addressIn(headers) ?? forwardedAddress(headers)
        return address === undefined ? undefined : networkOfAddress(address)
      } catch {
        // A request with a malformed address is rejected later, by the hook.
        return undefined
      }
    }
  }
}
export type ShopperAddressReader = ReturnType<typeof createShopperAddressReader>

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer')
