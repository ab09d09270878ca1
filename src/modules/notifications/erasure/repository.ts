import { statement } from '../../../platform/postgres/statement.ts'

export const deleteMailsOf = statement({
  name: 'notifications.delete_mails_of',
  takes: { customer_ids: 'uuid[]' },
  text: `
    delete from notifications.mailbox
    where id in (select id from notifications.messages where customer_id = any ($customer_ids))`
})
export const deleteMessagesOf = statement({
  name: 'notifications.delete_messages_of',
  takes: { customer_ids: 'uuid[]' },
  text: 'delete from notifications.messages where customer_id = any ($customer_ids)'
})
