import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import { input, response, withResponseDescription } from '../../../kernel/wire.ts'
import type { UnsubscribeService } from './service.ts'

const querystring = input({
  token: Type.String({
    minLength: 1,
    maxLength: 1_024,
    description: 'Token of the unsubscribe link in a mail.'
  })
})
const UnsubscribedResponse = response('UnsubscribedResponse', {
  address: Type.String({ description: 'First letter and domain of the address, such as a***@example.com.' }),
  is_unsubscribed: Type.Boolean({ description: 'True: the address gets no optional mails.' })
})
const path = '/notifications/unsubscribe'

export function unsubscribeRoutes(tiers: Tiers, unsubscribe: UnsubscribeService): void {
  tiers.public.get(
    path,
    {
      config: { class: 'account' },
      schema: {
        summary: 'Retrieve an unsubscribe state',
        description:
          'Returns whether the address in `token` is unsubscribed from optional mails, such as `welcome`. Opening the link changes nothing. With `Accept: text/html` the response is a page with a button that unsubscribes. Needs no login. 400 `NOTIFICATION_UNSUBSCRIBE_REFUSED`: the token is not valid; use the complete link of the mail.',
        querystring,
        response: {
          200: {
            description: 'The state as JSON, or a page for browsers.',
            content: {
              'text/html': { schema: Type.String() },
              'application/json': { schema: UnsubscribedResponse }
            }
          }
        }
      }
    },
    async (request, reply) => {
      const { type, policy, body } = await unsubscribe.show(request.query.token, request.headers.accept)
      // The body is serialized already, as HTML or JSON.
      return reply
        .type(type)
        .header('content-security-policy', policy)
        .send(body as never) as never
    }
  )
  tiers.public.post(
    path,
    {
      config: {
        class: 'account',
        body: 'bytes',
        noReplay: 'to unsubscribe twice is the same as once',
        allowedInMaintenance: 'the sender of mails must take it'
      },
      schema: {
        summary: 'Unsubscribe from optional mails',
        description:
          'Unsubscribes the address in `token` from optional mails, as in RFC 8058 (one-click unsubscribe). Mails about orders and accounts are still sent. Needs no login and no body. A repeated call has no further effect. 400 `NOTIFICATION_UNSUBSCRIBE_REFUSED`: the token is not valid; use the complete link of the mail.',
        querystring,
        response: { 200: withResponseDescription(UnsubscribedResponse, 'The address is unsubscribed.') }
      }
    },
    request => unsubscribe.unsubscribe(request.query.token)
  )
}
