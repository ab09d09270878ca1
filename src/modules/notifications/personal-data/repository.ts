import { json, statement } from '../../../platform/postgres/statement.ts'

export const deleteMailboxMailsOfCustomer = statement({
  name: 'notifications.delete_mails_of',
  takes: { customer_id: 'uuid' },
  text: `
    delete from notifications.mailbox
    where id in (select id from notifications.messages where customer_id = $customer_id)`
})
export const deleteNotificationsOfCustomer = statement({
  name: 'notifications.delete_messages_of',
  takes: { customer_id: 'uuid' },
  text: 'delete from notifications.messages where customer_id = $customer_id'
})
const ofGuest = `recipient = any ($emails) and customer_id is null and data -> 'order' ->> 'id' = any ($order_ids)`
const guest = { emails: 'text[]', order_ids: 'text[]' } as const
export const deleteMailboxMailsOfGuest = statement({
  name: 'notifications.delete_mails_of_guest',
  takes: guest,
  text: `
    delete from notifications.mailbox where id in (select id from notifications.messages where ${ofGuest})`
})
export const deleteNotificationsOfGuest = statement({
  name: 'notifications.delete_messages_of_guest',
  takes: guest,
  text: `delete from notifications.messages where ${ofGuest}`
})
const exported = {
  template: 'text',
  status: 'text',
  locale: 'text',
  recipient: 'text?',
  recipient_name: 'text?',
  data: json<Readonly<Record<string, unknown>>>(),
  created_at: 'timestamptz'
} as const
const columns = `template, status, locale, recipient, recipient_name, data::jsonb as data, created_at`
export const listNotificationsOfGuest = statement({
  name: 'notifications.list_messages_of_guest',
  slow: true,
  takes: guest,
  gives: exported,
  text: `select ${columns} from notifications.messages where ${ofGuest} order by id`
})
export const listNotificationsOfCustomer = statement({
  name: 'notifications.list_messages_of',
  slow: true,
  takes: { customer_id: 'uuid' },
  gives: exported,
  text: `select ${columns} from notifications.messages where customer_id = $customer_id order by id`
})
