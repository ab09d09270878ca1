import type { Delivery } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi, Contact } from '../../auth/index.ts'
import type { Draft, WriteMessages } from '../messages/service.ts'
import type { TemplateName } from '../templates/catalogue.ts'

type UserEvent = { readonly user_id: string }
type TokenEvent = UserEvent & { readonly token_id: string }
type Deps = {
  auth: Pick<AuthApi, 'contacts' | 'oneTimeToken'> | undefined
  write: WriteMessages
  isOn: (template: TemplateName) => boolean
}

const recipientOf = ({ id, name, locale }: Contact, email: string | null): Draft['to'] => ({
  email,
  name,
  customerId: id,
  locale
})

/** Tells people what became of their accounts, and sends what they have to prove. */
export function createAccountHearing({ auth, write, isOn }: Deps) {
  const hear =
    <E extends UserEvent>(
      template: TemplateName,
      draft: (event: Delivery<E>, contact: Contact) => Promise<Pick<Draft, 'to' | 'data'> | undefined>
    ) =>
    async (tx: Transaction, events: readonly Delivery<E>[]): Promise<void> => {
      if (auth === undefined || !isOn(template)) return
      const contacts = await auth.contacts(events.map(({ payload }) => payload.user_id))
      const drafts = await Promise.all(
        events.map(async (event): Promise<Draft[]> => {
          const contact = contacts.find(({ id }) => id === event.payload.user_id)
          const told = contact && (await draft(event, contact))
          return told === undefined ? [] : [{ origin: event.id, template, ...told }]
        })
      )
      await write(tx, drafts.flat())
    }
  /** To the address that the token is for. What was used or superseded meanwhile is not sent. */
  const hearToken = (template: TemplateName) =>
    hear<TokenEvent>(template, async ({ payload: { token_id } }, contact) => {
      const token = await auth?.oneTimeToken(token_id)
      return token && { to: recipientOf(contact, token.email), data: { token_id } }
    })
  const at = ({ since }: Delivery) => ({ at: since.toISOString() })

  return {
    'auth.user_registered': hear<UserEvent & { role: string }>('welcome', async ({ payload }, contact) =>
      payload.role === 'customer' ? { to: recipientOf(contact, contact.email), data: {} } : undefined
    ),
    'auth.verification_requested': hearToken('verify_email'),
    'auth.password_reset_requested': hearToken('reset_password'),
    'auth.password_changed': hear<UserEvent>('password_changed', async (event, contact) => ({
      to: recipientOf(contact, contact.email),
      data: at(event)
    })),
    'auth.api_key_created': hear<UserEvent & { name: string }>('api_key_created', async (event, contact) => ({
      to: recipientOf(contact, contact.email),
      data: { name: event.payload.name, ...at(event) }
    })),
    'auth.second_factor_changed': hear<UserEvent & { change: string }>(
      'second_factor_changed',
      async (event, contact) => ({
        to: recipientOf(contact, contact.email),
        data: { change: event.payload.change, ...at(event) }
      })
    ),
    // To the address before: whoever has that one is to know.
    'auth.email_changed': hear<UserEvent>('email_changed', async (event, contact) => ({
      to: recipientOf(contact, contact.formerEmail ?? contact.email),
      data: at(event)
    }))
  }
}
