import { expect, onTestFinished } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { Module } from '../../src/module.ts'
import { notificationsModule } from '../../src/modules/notifications/index.ts'
import { fakeAuth, type TestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from './checkouts.ts'
import { useTestDatabaseUrl } from './database.ts'
import { type MailServer, openMailServer } from './mail-server.ts'
import { useOrders } from './orders.ts'
import { runSql } from './sql.ts'
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

function mailHelpers(sql: TestShop['sql'], mails: MailServer) {
  const messages = () => sql('select * from notifications.messages order by id')
  return {
    mails,
    messages,
    statuses: async () => (await messages()).map(({ status }) => status),
    /** Waits until the server has accepted this number of mails, and returns them. */
    waitForMails: async (count: number) => {
      await expect.poll(() => mails.taken.length, PATIENCE).toBe(count)
      return mails.taken
    },
    /** Makes all waiting retries due now. */
    hurry: () =>
      sql('update cartwright.jobs set due_at = now() where handler = $1 and lease is null', [SEND]),
    /** Delivers an event with this id to notifications, and waits until it is handled. */
    deliverEvent: async (event: string, subject: string, payload: object, id = newId()) => {
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

/**
 * A shop with orders, and a mail server that accepts its mails. Its database has no messages and no jobs. Tests of a file that
 * calls `shareShops` share the database, so each of them calls this function once.
 */
export async function useMailingShop(
  given: Readonly<Record<string, string>> = {},
  more: readonly Module[] = []
) {
  const { mails, settings } = await mailSettings(given)
  const auth = fakeAuth()
  const modules = [...CHECKOUT_MODULES, notificationsModule, ...more]
  const databaseUrl = await useTestDatabaseUrl()
  await runSql(databaseUrl, 'truncate cartwright.jobs, notifications.messages')
  const shop = await useOrders({ databaseUrl, modules, settings, instead: { auth } })
  return { ...shop, auth, ...mailHelpers(shop.sql, mails) }
}

/** A shop with accounts and notifications only, and a mail server. */
export async function useMailingAccounts(given: Readonly<Record<string, string>> = {}) {
  const { mails, settings } = await mailSettings(given)
  const auth = fakeAuth()
  const shop = await useShop({ modules: [notificationsModule], instead: { auth }, settings })
  const about = mailHelpers(shop.sql, mails)
  return {
    ...shop,
    ...about,
    auth,
    admin: shop.as({ token: 'admin' }),
    anonymous: shop.as(null),
    /** Adds a customer. Returns the id. */
    addCustomer: (email: string, more: object = {}) => {
      const id = newId()
      auth.addContact({ id, email, name: 'Ada Lovelace', ...more })
      return id
    },
    /** Emits an event about a customer's account. */
    emitAccountEvent: (event: string, user_id: string, more: object = {}) =>
      about.deliverEvent(`auth.${event}`, user_id, { user_id, ...more })
  }
}
