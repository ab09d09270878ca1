import { json, statement } from '../../../platform/postgres/statement.ts'

const listed = {
  id: 'uuid',
  template: 'text',
  sender: 'text',
  recipient: 'text',
  subject: 'text',
  sent_at: 'timestamptz'
} as const

/** A mail that is sent again replaces its earlier version. */
export const saveMailboxMail = statement({
  name: 'notifications.save_mail',
  takes: {
    id: 'uuid',
    message_id: 'text',
    template: 'text',
    sender: 'text',
    recipient: 'text',
    subject: 'text',
    body_text: 'text',
    body_html: 'text',
    headers: json<Readonly<Record<string, string>>>()
  },
  text: `
    insert into notifications.mailbox (id, message_id, template, sender, recipient, subject, body_text, body_html, headers)
    values ($id, $message_id, $template, $sender, $recipient, $subject, $body_text, $body_html, $headers)
    on conflict (id) do update set
      subject = excluded.subject, body_text = excluded.body_text, body_html = excluded.body_html, sent_at = now()`
})
export const listMailboxMails = statement({
  name: 'notifications.list_mails',
  takes: { recipient: 'text?', limit: 'int8' },
  gives: listed,
  text: `
    select id, template, sender, recipient, subject, sent_at from notifications.mailbox
    where $recipient::text is null or recipient = $recipient order by id desc limit $limit`
})
export const findMailboxMail = statement({
  name: 'notifications.find_mail',
  takes: { id: 'uuid' },
  gives: {
    ...listed,
    message_id: 'text',
    body_text: 'text',
    body_html: 'text',
    headers: json<Readonly<Record<string, string>>>()
  },
  text: `
    select id, template, sender, recipient, subject, sent_at, message_id, body_text, body_html, headers
    from notifications.mailbox where id = $id`
})
export const deleteOldMailboxMails = statement({
  name: 'notifications.delete_old_mails',
  takes: { mailsMax: 'int8' },
  text: `
    delete from notifications.mailbox
    where id in (select id from notifications.mailbox order by id desc offset $mailsMax limit 1000)`
})
