import { expect, onTestFinished } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { notificationsModule } from '../../src/modules/notifications/index.ts'
import { fakeAuth, type TestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from './checkouts.ts'
import { type MailServer, openMailServer } from './mail-server.ts'
import { useOrders } from './orders.ts'
import { useShop } from './use-shop.ts'

export const PATIENCE = { timeout: 60_000 }
const SEND = 'notifications.send_message'

export async function mailSettings(settings: Readonly<Record<string, string>>) {
  const mails = await openMailServer({})
  onTestFinished(mails.close)
  return {
    mails,
    settings: {
      CARTWRIGHT__NOTIFICATIONS__SMTP__URL: mails.url,
      CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@shop.example',
      CARTWRIGHT__NOTIFICATIONS__REPLY_TO: 'help@shop.example',
      CARTWRIGHT__NOTIFICATIONS__STOREFRONT_URL: 'https://shop.example',
      CARTWRIGHT__SERVER__PUBLIC_URL: 'https://api.shop.example',
      ...settings
    }
  }
}

function looking(sql: TestShop['sql'], mails: MailServer) {
  const messages = () => sql('select * from notifications.messages order by id')
  return {
    mails,
    messages,
    statuses: async () => (await messages()).map(({ status }) => status),
    /** So many mails have come. */
    mailed: async (count: number) => {
      await expect.poll(() => mails.taken.length, PATIENCE).toBe(count)
      return mails.taken
    },
    /** Whoever waits for the next try waits no longer. */
    hurry: () =>
      sql('update cartwright.jobs set due_at = now() where handler = $1 and lease is null', [SEND]),
    /** The module hears of an event, of this id. */
    tell: async (event: string, subject: string, payload: object, id = newId()) => {
      await sql(
        'insert into cartwright.jobs (handler, subject, event_id, payload) values ($1, $2, $3, $4::jsonb)',
        [`notifications:${event}`, subject, id, JSON.stringify(payload)]
      )
      const left = () => sql('select 1 from cartwright.jobs where event_id = $1', [id])
      await expect.poll(left, PATIENCE).toEqual([])
      return id
    }
  }
}

/** A shop in which one can order, and a server that takes its mails. */
export async function useMailingShop(given: Readonly<Record<string, string>> = {}) {
  const { mails, settings } = await mailSettings(given)
  const auth = fakeAuth()
  const modules = [...CHECKOUT_MODULES, notificationsModule]
  const shop = await useOrders({ modules, settings, instead: { auth } })
  return { ...shop, auth, ...looking(shop.sql, mails) }
}

/** A shop that knows people, and does nothing but write to them. */
export async function useMailingAccounts(given: Readonly<Record<string, string>> = {}) {
  const { mails, settings } = await mailSettings(given)
  const auth = fakeAuth()
  const shop = await useShop({ modules: [notificationsModule], instead: { auth }, settings })
  const about = looking(shop.sql, mails)
  return {
    ...shop,
    ...about,
    auth,
    admin: shop.as({ token: 'admin' }),
    anybody: shop.as(null),
    /** Somebody is known; answers their id. */
    know: (email: string, more: object = {}) => {
      const id = newId()
      auth.know({ id, email, name: 'Ada Lovelace', ...more })
      return id
    },
    /** Something of somebody's account happened. */
    happen: (event: string, user_id: string, more: object = {}) =>
      about.tell(`auth.${event}`, user_id, { user_id, ...more })
  }
}
