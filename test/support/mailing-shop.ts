import { expect } from 'vitest'
import { notificationsModule } from '../../src/modules/notifications/index.ts'
import { CHECKOUT_MODULES } from './checkouts.ts'
import { useMailServer } from './mail-server.ts'
import { useOrders } from './orders.ts'

export const PATIENCE = { timeout: 20_000 }
const SEND = 'notifications.send_message'

/** A shop in which one can order, and a server that takes its mails. */
export async function useMailingShop(settings: Record<string, string> = {}) {
  const mails = await useMailServer()
  const shop = await useOrders({
    modules: [...CHECKOUT_MODULES, notificationsModule],
    settings: {
      CARTWRIGHT__NOTIFICATIONS__SMTP__URL: mails.url,
      CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@shop.example',
      CARTWRIGHT__NOTIFICATIONS__REPLY_TO: 'help@shop.example',
      CARTWRIGHT__NOTIFICATIONS__STOREFRONT_URL: 'https://shop.example',
      ...settings
    }
  })
  const messages = () => shop.sql('select * from notifications.messages order by id')
  return {
    ...shop,
    mails,
    messages,
    /** What became of the messages, once none is to be sent in its first turn any more. */
    statuses: async () => (await messages()).map(({ status }) => status),
    /** So many mails have come. */
    mailed: async (count: number) => {
      await expect.poll(() => mails.taken.length, PATIENCE).toBe(count)
      return mails.taken
    },
    /** Whoever waits for the next try waits no longer. */
    hurry: () =>
      shop.sql('update cartwright.jobs set due_at = now() where handler = $1 and lease is null', [SEND])
  }
}
