import { parseEmail } from '../../../kernel/email.ts'
import { escapeHtml } from '../../../kernel/html.ts'
import type { SuppressionList } from '../suppressions/service.ts'
import type { MailSender } from '../transport/send-mail.ts'

/** A mail of another module, with its content. */
type UnstoredMail = {
  /** The same for each attempt: mail programs show mails of one id once. */
  readonly id: string
  /** The kind of the mail for logs, such as `gift_cards.code`. */
  readonly kind: string
  readonly to: { readonly email: string; readonly name: string | null }
  readonly subject: string
  /** Paragraphs, separated by an empty line. */
  readonly text: string
}
export type SendUnstoredMail = (mail: UnstoredMail) => Promise<boolean>

type Deps = {
  mails: Pick<MailSender, 'send' | 'domain'>
  suppressions: Pick<SuppressionList, 'check'>
}

/** Creates the function that sends mails whose content is not stored. See `NotificationsApi.send`. */
export const createUnstoredMailSender =
  ({ mails, suppressions }: Deps): SendUnstoredMail =>
  async ({ id, kind, to, subject, text }) => {
    const address = parseEmail(to.email)
    if (address === undefined || (await suppressions.check(address, false)).reason !== undefined) return false
    await mails.send({
      id,
      template: kind,
      date: new Date(),
      messageId: `<${id}@${mails.domain}>`,
      to: { name: withoutLineBreaks(to.name ?? ''), address },
      subject: withoutLineBreaks(subject),
      text,
      html: text
        .split(/\n{2,}/)
        .map(paragraph => `<p>${escapeHtml(paragraph)}</p>`)
        .join('\n'),
      headers: {}
    })
    return true
  }

/** Line breaks in a header would begin another header. */
const withoutLineBreaks = (text: string): string => text.replaceAll(/[\r\n<>"\\]+/g, ' ').trim()
