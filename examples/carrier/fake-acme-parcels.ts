import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ExternalServiceFailure } from 'cartwright/testing'

export const API_KEY = 'key of the tests'
const WEIGHT_GRAMS_MAX = 30_000
const COUNTRIES = ['AT', 'DE']

type Answer = { readonly status: number; readonly body?: object }
type Sent = {
  readonly reference: string
  readonly service: string
  readonly country: string
  readonly weight_grams: number
}
type SoldLabel = {
  readonly service: string
  readonly tracking_number: string
  readonly document: string
  readonly isVoided: boolean
}

/** Starts a service with the API of Acme Parcels. */
export async function startFakeAcmeParcels() {
  const labels = new Map<string, SoldLabel>()
  const failures: ExternalServiceFailure[] = []
  let hanging = Promise.withResolvers<void>()

  function listRates({ country, weight_grams }: Sent): Answer {
    const isDelivered = COUNTRIES.includes(country) && weight_grams <= WEIGHT_GRAMS_MAX
    const perKilogram = 100 * Math.ceil(weight_grams / 1_000)
    const rates = [
      { service: 'standard', price: 390 + perKilogram, currency: 'EUR', days: { min: 2, max: 4 } },
      { service: 'express', price: 890 + perKilogram, currency: 'EUR', days: { min: 1, max: 1 } }
    ]
    return { status: 200, body: { rates: isDelivered ? rates : [] } }
  }
  function sellLabel({ reference, service, weight_grams }: Sent): Answer {
    if (labels.has(reference)) return { status: 409, body: { error: 'The reference is used.' } }
    if (weight_grams > WEIGHT_GRAMS_MAX)
      return { status: 422, body: { error: 'A parcel weighs at most 30 kg.' } }
    const tracking_number = `AP${String(labels.size + 1).padStart(8, '0')}`
    const document = Buffer.from(`%PDF ${tracking_number}`).toString('base64')
    const label = { service, tracking_number, document, isVoided: false }
    labels.set(reference, label)
    return { status: 201, body: label }
  }
  function changeLabel(method: string | undefined, reference: string): Answer {
    const label = labels.get(reference)
    if (label === undefined) return { status: 404, body: { error: 'No label has this reference.' } }
    if (method === 'GET') return { status: 200, body: label }
    labels.set(reference, { ...label, isVoided: true })
    return { status: 204 }
  }

  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request
    const send = ({ status, body }: Answer) => response.writeHead(status).end(body && JSON.stringify(body))
    if (headers.authorization !== `Bearer ${API_KEY}`)
      return send({ status: 401, body: { error: 'The key is wrong.' } })
    const content = await text(request)
    const failure = failures.shift()
    if (failure === 'error') return send({ status: 503, body: { error: 'Try again later.' } })
    if (failure === 'hang') return hanging.resolve()
    const [, , reference = ''] = url.split('/')
    const answer =
      method !== 'POST'
        ? changeLabel(method, reference)
        : (url === '/rates' ? listRates : sellLabel)(JSON.parse(content))
    return failure === 'lost' ? request.socket.destroy() : send(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The labels that the shop has bought and not voided. */
    charged: () => [...labels.values()].filter(({ isVoided }) => !isVoided),
    failNext: (failure: ExternalServiceFailure) => {
      failures.push(failure)
      hanging = Promise.withResolvers()
    },
    untilHanging: () => hanging.promise,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
