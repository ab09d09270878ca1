import type { Log } from '../../../platform/log.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrdersApi } from '../../orders/index.ts'
import type { Links } from '../links/service.ts'
import type { TurnRow } from '../messages/repository.ts'
import { catalogue, type TemplateName } from '../templates/catalogue.ts'
import { type Rendered, TemplateFault } from '../templates/engine.ts'
import type { TemplateRenderer } from '../templates/renderer.ts'
import type { FoundTemplate, Templates } from '../templates/service.ts'

type Deps = {
  db: Database
  log: Log
  renderer: TemplateRenderer
  templates: Templates
  links: Links
  shopName: string
  auth: Pick<AuthApi, 'oneTimeToken'> | undefined
  orders: Pick<OrdersApi, 'letters' | 'dataRequest'> | undefined
  /** Where somebody says that they want no more such mails. */
  unsubscribeLink: (address: string) => string
}
type Data = {
  readonly order?: { readonly id: string; readonly [key: string]: unknown }
  readonly token_id?: string
  readonly data_request_id?: string
}
export type Content = Rendered & {
  /** What is wrong with the template that it was to be made of; `null` when it was. */
  readonly fault: string | null
  /** Empty: nobody can say that they do not want it. */
  readonly unsubscribeUrl: string
}

export const isOptional = (template: string) => catalogue[template as TemplateName].isOptional === true

/** What a mail says: the template, with what was kept of the message and the secrets that are made now. */
export function createContent(deps: Deps) {
  const { db, log, renderer, templates, links, shopName, auth, orders, unsubscribeLink } = deps

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

  /** Returns `undefined` when the guest's request has expired or was used. */
  async function dataRequestOf(requestId: string) {
    const found = await orders?.dataRequest(db, requestId)
    if (found === undefined) return undefined
    const { token, action, expiresAt } = found
    return { token, action, url: links.to('guest_data', { token }), expires_at: expiresAt.toISOString() }
  }

  const secretsOf = async (tokenId?: string, requestId?: string) => {
    if (tokenId !== undefined) return proofOf(tokenId)
    return requestId === undefined ? {} : dataRequestOf(requestId)
  }

  /** One that fails in spite of all checks stops nothing: the next one stands in for it. */
  async function render(found: readonly FoundTemplate[], template: string, scope: object) {
    let fault: string | null = null
    for (const [index, { words, locale }] of found.entries()) {
      try {
        return { ...(await renderer.render(words, { ...scope, locale })), fault }
      } catch (error) {
        if (!(error instanceof TemplateFault) || index === found.length - 1) throw error
        const { part, line, message: reason } = error
        log.error({ template, locale, part, line, reason }, 'a template fails')
        fault ??= `another template stood in, as that of ${locale} fails: ${part}, line ${line}: ${reason}`
      }
    }
    throw new Error(`there is no template ${template}`)
  }

  /** `undefined` when what it is to prove was used, superseded, or has expired. */
  return async (message: TurnRow, recipient: string): Promise<Content | undefined> => {
    const { order, token_id, data_request_id, ...data } = message.data as Data
    const proof = await secretsOf(token_id, data_request_id)
    if (proof === undefined) return undefined
    const found = await templates.find(message.template as TemplateName, message.locale)
    const unsubscribeUrl = isOptional(message.template) ? unsubscribeLink(recipient) : ''
    const scope = {
      ...{ ...data, ...proof },
      ...(order && { order: { ...order, url: await orderUrl(order.id, message.customer_id !== null) } }),
      shop: { name: shopName, url: links.base },
      recipient: { name: message.recipient_name ?? '', email: recipient },
      unsubscribe_url: unsubscribeUrl
    }
    return { ...(await render(found, message.template, scope)), unsubscribeUrl }
  }
}
export type WriteContent = ReturnType<typeof createContent>
