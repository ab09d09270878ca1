import type { JobDelivery } from '../../../kernel/events.ts'
import type { EventFollowUp } from '../../../platform/outbox/handlers.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi, UserContact } from '../../auth/index.ts'
import type { NotificationDraft, QueueOrSendNotifications } from '../messages/service.ts'
import type { MailTemplateName } from '../templates/definitions.ts'

type UserEvent = { readonly user_id: string }
type TokenEvent = UserEvent & { readonly token_id: string }
type Deps = {
  auth: Pick<AuthApi, 'contacts' | 'oneTimeToken'> | undefined
  queueOrSend: QueueOrSendNotifications
  isEnabled: (template: MailTemplateName) => boolean
}

const recipientOf = ({ id, name, locale }: UserContact, email: string | null): NotificationDraft['to'] => ({
  email,
  name,
  customerId: id,
  locale
})

/** Queues mails about an account to its owner, including those with a verification or reset link. */
export function createAccountMailSubscriber({ auth, queueOrSend, isEnabled }: Deps) {
  const mailHandler =
    <E extends UserEvent>(
      template: MailTemplateName,
      draft: (
        event: JobDelivery<E>,
        contact: UserContact
      ) => Promise<Pick<NotificationDraft, 'to' | 'data'> | undefined>
    ) =>
    async (tx: Transaction, events: readonly JobDelivery<E>[]): Promise<EventFollowUp | undefined> => {
      if (auth === undefined || !isEnabled(template)) return undefined
      const contacts = await auth.contacts(events.map(({ payload }) => payload.user_id))
      const drafts = await Promise.all(
        events.map(async (event): Promise<NotificationDraft[]> => {
          const contact = contacts.find(({ id }) => id === event.payload.user_id)
          const content = contact && (await draft(event, contact))
          return content === undefined ? [] : [{ sourceId: event.id, template, ...content }]
        })
      )
      return queueOrSend(tx, drafts.flat())
    }
  /** Sends to the address that the token is for. Skips tokens that were used or superseded meanwhile. */
  const tokenMailHandler = (template: MailTemplateName) =>
    mailHandler<TokenEvent>(template, async ({ payload: { token_id } }, contact) => {
      const token = await auth?.oneTimeToken(token_id)
      return token && { to: recipientOf(contact, token.email), data: { token_id } }
    })
  const at = ({ since }: JobDelivery) => ({ at: since.toISOString() })

  return {
    'auth.user_registered': mailHandler<UserEvent & { role: string }>(
      'welcome',
      async ({ payload }, contact) =>
        payload.role === 'customer' ? { to: recipientOf(contact, contact.email), data: {} } : undefined
    ),
    'auth.verification_requested': tokenMailHandler('verify_email'),
    'auth.password_reset_requested': tokenMailHandler('reset_password'),
    'auth.password_changed': mailHandler<UserEvent>('password_changed', async (event, contact) => ({
      to: recipientOf(contact, contact.email),
      data: at(event)
    })),
    'auth.api_key_created': mailHandler<UserEvent & { name: string }>(
      'api_key_created',
      async (event, contact) => ({
        to: recipientOf(contact, contact.email),
        data: { name: event.payload.name, ...at(event) }
      })
    ),
    'auth.second_factor_changed': mailHandler<UserEvent & { change: string }>(
      'second_factor_changed',
      async (event, contact) => ({
        to: recipientOf(contact, contact.email),
        data: { change: event.payload.change, ...at(event) }
      })
    ),
    // The mail goes to the previous address, so that the owner notices when an attacker changed it.
    'auth.email_changed': mailHandler<UserEvent>('email_changed', async (event, contact) => ({
      to: recipientOf(contact, contact.formerEmail ?? contact.email),
      data: at(event)
    }))
  }
}
