import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import { input, response } from '../../../kernel/wire.ts'
import type { Unsubscribe } from './service.ts'

const querystring = input({
  token: Type.String({ minLength: 1, maxLength: 1_024, description: 'Of the link in a mail.' })
})
const UnsubscribedResponse = response('UnsubscribedResponse', {
  address: Type.String({ description: 'Masked.' }),
  is_unsubscribed: Type.Boolean()
})
const path = '/notifications/unsubscribe'

export function unsubscribeRoutes(tiers: Tiers, unsubscribe: Unsubscribe): void {
  tiers.public.get(
    path,
    {
      config: { class: 'account' },
      schema: {
        summary: 'Whether somebody gets mails that they may not want; a browser gets a page with a button',
        querystring,
        response: {
          200: {
            description: 'A page, or what it says.',
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
      // It is written already, as a page or as JSON.
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
        unwritten: 'to unsubscribe twice is the same as once',
        inMaintenance: 'the sender of mails must take it'
      },
      schema: {
        summary: 'Get no more mails that one may not want, by one click (RFC 8058)',
        querystring,
        response: { 200: UnsubscribedResponse }
      }
    },
    request => unsubscribe.unsubscribe(request.query.token)
  )
}
