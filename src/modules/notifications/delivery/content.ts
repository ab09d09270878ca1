import type { Log } from '../../../platform/log.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrdersApi } from '../../orders/index.ts'
import type { Links } from '../links/service.ts'
import type { TurnRow } from '../messages/repository.ts'
import { catalogue, type TemplateName } from '../templates/catalogue.ts'
import { type Rendered, type TemplateEngine, TemplateFault } from '../templates/engine.ts'
import type { FoundTemplate, Templates } from '../templates/service.ts'

type Deps = {
  db: Database
  log: Log
  engine: TemplateEngine
  templates: Templates
  links: Links
  shopName: string
  auth: Pick<AuthApi, 'oneTimeToken'> | undefined
  orders: Pick<OrdersApi, 'letters'> | undefined
  /** Where somebody says that they want no more such mails. */
  unsubscribeLink: (address: string) => string
}
type Data = {
  readonly order?: { readonly id: string; readonly [key: string]: unknown }
  readonly token_id?: string
}
export type Content = Rendered & {
  /** Empty: nobody can say that they do not want it. */
  readonly unsubscribeUrl: string
}

export const isOptional = (template: string) => catalogue[template as TemplateName].isOptional === true

/** What a mail says: the template, with what was kept of the message and the secrets that are made now. */
export function createContent(deps: Deps) {
  const { db, log, engine, templates, links, shopName, auth, orders, unsubscribeLink } = deps

  /** The page of an order; with its token, where there is no account. */
  async function orderUrl(id: string, isOfAccount: boolean): Promise<string> {
    if (isOfAccount) return links.to('order', { id })
    const [letter] = (await orders?.letters(db, [id])) ?? []
    return letter?.token ? links.to('guest_order', { id, token: letter.token }) : ''
  }

  /** `undefined`: it proves nothing any more. */
  async function proofOf(tokenId: string) {
    const found = await auth?.oneTimeToken(tokenId)
    if (found === undefined) return undefined
    const { token, purpose, expiresAt } = found
    const url = links.to(purpose === 'reset_password' ? 'reset_password' : 'verify_email', { token })
    return { token, url, expires_at: expiresAt.toISOString() }
  }

  /** One of an administrator's that fails in spite of all checks stops nothing: what comes along stands in for it. */
  async function render({ words, original }: FoundTemplate, template: string, scope: object) {
    const known = scope as Readonly<Record<string, unknown>>
    try {
      return await engine.render(words, known)
    } catch (error) {
      if (!(error instanceof TemplateFault) || original === undefined) throw error
      log.error({ template, part: error.part, line: error.line, reason: error.message }, 'a template fails')
      return engine.render(original, known)
    }
  }

  /** `undefined` when what it is to prove was used, superseded, or has expired. */
  return async (message: TurnRow, recipient: string): Promise<Content | undefined> => {
    const { order, token_id, ...data } = message.data as Data
    const proof = token_id === undefined ? {} : await proofOf(token_id)
    if (proof === undefined) return undefined
    const found = await templates.find(message.template as TemplateName, message.locale)
    const unsubscribeUrl = isOptional(message.template) ? unsubscribeLink(recipient) : ''
    const scope = {
      ...{ ...data, ...proof },
      ...(order && { order: { ...order, url: await orderUrl(order.id, message.customer_id !== null) } }),
      shop: { name: shopName, url: links.base },
      recipient: { name: message.recipient_name ?? '', email: recipient },
      locale: found.locale,
      unsubscribe_url: unsubscribeUrl
    }
    return { ...(await render(found, message.template, scope)), unsubscribeUrl }
  }
}
export type WriteContent = ReturnType<typeof createContent>
