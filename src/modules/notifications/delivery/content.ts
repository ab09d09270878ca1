import type { Log } from '../../../platform/log.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrdersApi } from '../../orders/index.ts'
import type { DueNotificationRow } from '../messages/repository.ts'
import { type MailTemplateName, mailTemplateDefinitions } from '../templates/definitions.ts'
import { MailTemplateFaultError, type RenderedMail } from '../templates/liquid-engine.ts'
import type { MailTemplateRenderer } from '../templates/renderer.ts'
import type { MailTemplateCandidate, MailTemplateFinder } from '../templates/service.ts'
import type { StorefrontLinks } from './storefront-links.ts'

type Deps = {
  db: Database
  log: Log
  renderer: MailTemplateRenderer
  templates: MailTemplateFinder
  links: StorefrontLinks
  shopName: string
  auth: Pick<AuthApi, 'oneTimeToken'> | undefined
  orders: Pick<OrdersApi, 'orderSummaries' | 'orderToken' | 'findDataRequest'> | undefined
  /** Returns the link by which a recipient unsubscribes from optional mails. */
  unsubscribeLink: (address: string) => string
}
type StoredData = {
  readonly order?: {
    readonly id: string
    /** Missing in messages that an earlier version stored. */
    readonly token_version?: number
    readonly [key: string]: unknown
  }
  readonly token_id?: string
  readonly data_request_id?: string
}
/** For messages that were stored before orders had tenders. */
const TENDERS_BEFORE = { tenders: [], due: 0 }

export type MailContent = RenderedMail & {
  /** Why the preferred template failed and a fallback was rendered. `null`: the preferred template was rendered. */
  readonly fault: string | null
  /** The unsubscribe URL. Empty for mails from which recipients cannot unsubscribe. */
  readonly unsubscribeUrl: string
}

export const isUnsubscribableMailTemplate = (template: string) =>
  mailTemplateDefinitions[template as MailTemplateName].isOptional === true

/** Renders mails from a template, the stored data of a message, and secrets that are created only now. */
export function createMailContentRenderer(deps: Deps) {
  const { db, log, renderer, templates, links, shopName, auth, orders, unsubscribeLink } = deps

  /** Returns the link to an order. For guests it contains the order token, which a message must not store. */
  async function orderUrl(id: string, version: number | undefined, hasAccount: boolean): Promise<string> {
    if (hasAccount) return links.urlFor('order', { id })
    if (orders === undefined) return ''
    const tokenVersion = version ?? (await orders.orderSummaries(db, [id]))[0]?.token_version
    return tokenVersion === undefined
      ? ''
      : links.urlFor('guest_order', { id, token: orders.orderToken(id, tokenVersion) })
  }

  async function orderVariables(
    { token_version, ...order }: NonNullable<StoredData['order']>,
    hasAccount: boolean
  ) {
    return { ...TENDERS_BEFORE, ...order, url: await orderUrl(order.id, token_version, hasAccount) }
  }

  /** Returns undefined when the one-time token was used or superseded, or has expired. */
  async function tokenVariables(tokenId: string) {
    const found = await auth?.oneTimeToken(tokenId)
    if (found === undefined) return undefined
    const { token, purpose, expiresAt } = found
    const url = links.urlFor(purpose === 'reset_password' ? 'reset_password' : 'verify_email', { token })
    return { token, url, expires_at: expiresAt.toISOString() }
  }

  /** Returns `undefined` when the guest's request has expired or was used. */
  async function dataRequestVariables(requestId: string) {
    const found = await orders?.findDataRequest(db, requestId)
    if (found === undefined) return undefined
    const { token, action, expiresAt } = found
    const url = links.urlFor('guest_data', { token })
    return { token, action, url, expires_at: expiresAt.toISOString() }
  }

  const secretVariables = async (tokenId?: string, requestId?: string) => {
    if (tokenId !== undefined) return tokenVariables(tokenId)
    return requestId === undefined ? {} : dataRequestVariables(requestId)
  }

  /** Renders the first template that does not fail, so that a broken template of an administrator stops no mail. */
  async function render(candidates: readonly MailTemplateCandidate[], template: string, variables: object) {
    let fault: string | null = null
    for (const [index, { source, locale }] of candidates.entries()) {
      try {
        return { ...(await renderer.render(source, { ...variables, locale })), fault }
      } catch (error) {
        if (!(error instanceof MailTemplateFaultError) || index === candidates.length - 1) throw error
        const { part, line, message: reason } = error
        log.error({ template, locale, part, line, reason }, 'a template fails')
        fault ??= `a fallback template was used because that of ${locale} failed: ${part}, line ${line}: ${reason}`
      }
    }
    throw new Error(`there is no template ${template}`)
  }

  /** Returns undefined when the token of the message was used or superseded, or has expired. */
  return async (message: DueNotificationRow, recipient: string): Promise<MailContent | undefined> => {
    const { order, token_id, data_request_id, ...data } = message.data as StoredData
    const secrets = await secretVariables(token_id, data_request_id)
    if (secrets === undefined) return undefined
    const candidates = await templates.find(message.template as MailTemplateName, message.locale)
    const unsubscribeUrl = isUnsubscribableMailTemplate(message.template) ? unsubscribeLink(recipient) : ''
    const variables = {
      ...data,
      ...secrets,
      ...(order && { order: await orderVariables(order, message.customer_id !== null) }),
      shop: { name: shopName, url: links.base },
      recipient: { name: message.recipient_name ?? '', email: recipient },
      unsubscribe_url: unsubscribeUrl
    }
    return { ...(await render(candidates, message.template, variables)), unsubscribeUrl }
  }
}
export type RenderMailContent = ReturnType<typeof createMailContentRenderer>
