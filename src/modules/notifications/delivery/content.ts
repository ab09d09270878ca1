import type { Database } from '../../../platform/postgres/database.ts'
import type { OrdersApi } from '../../orders/index.ts'
import type { Links } from '../links/service.ts'
import type { TurnRow } from '../messages/repository.ts'
import { catalogue, type TemplateName } from '../templates/catalogue.ts'
import type { TemplateEngine } from '../templates/engine.ts'
import type { Templates } from '../templates/service.ts'

type Deps = {
  db: Database
  engine: TemplateEngine
  templates: Templates
  links: Links
  shopName: string
  orders: Pick<OrdersApi, 'letters'> | undefined
}
type OrderData = { readonly id: string; readonly [key: string]: unknown }

/** What a mail says: the template, with what was kept of the message and the secrets that are made now. */
export function createContent({ db, engine, templates, links, shopName, orders }: Deps) {
  /** The page of an order; with its token, where there is no account. */
  async function orderUrl(id: string, isOfAccount: boolean): Promise<string> {
    if (isOfAccount) return links.to('order', { id })
    const [letter] = (await orders?.letters(db, [id])) ?? []
    return letter?.token ? links.to('guest_order', { id, token: letter.token }) : ''
  }

  return async (message: TurnRow, recipient: string) => {
    const template = message.template as TemplateName
    const { words, locale } = await templates.find(template, message.locale)
    const order = message.data.order as OrderData | undefined
    const scope = {
      ...message.data,
      ...(order && { order: { ...order, url: await orderUrl(order.id, message.customer_id !== null) } }),
      shop: { name: shopName, url: links.base },
      recipient: { name: message.recipient_name ?? '', email: recipient },
      locale,
      unsubscribe_url: ''
    }
    return { ...(await engine.render(words, scope)), isOptional: catalogue[template].isOptional === true }
  }
}
export type Content = ReturnType<typeof createContent>
