import { json, statement } from '../../../platform/postgres/statement.ts'

export const deleteMailsOf = statement({
  name: 'notifications.delete_mails_of',
  takes: { customer_id: 'uuid' },
  text: `
    delete from notifications.mailbox
    where id in (select id from notifications.messages where customer_id = $customer_id)`
})
export const deleteMessagesOf = statement({
  name: 'notifications.delete_messages_of',
  takes: { customer_id: 'uuid' },
  text: 'delete from notifications.messages where customer_id = $customer_id'
})
export const listMessagesOf = statement({
  name: 'notifications.list_messages_of',
  slow: true,
  takes: { customer_id: 'uuid' },
  gives: {
    template: 'text',
    status: 'text',
    locale: 'text',
    recipient: 'text?',
    recipient_name: 'text?',
    data: json<Readonly<Record<string, unknown>>>(),
    created_at: 'timestamptz'
  },
  text: `
    select template, status, locale, recipient, recipient_name, data, created_at
    from notifications.messages where customer_id = $customer_id order by id`
})
