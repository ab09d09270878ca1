import { parseEmail } from '../../../kernel/email.ts'
import { derivedId, newId } from '../../../kernel/ids.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { TemplateName } from '../templates/catalogue.ts'
import { sendMessage } from './job.ts'
import { insertMessages, type MessageChannel } from './repository.ts'

/** What is to be told to whom. */
export type Draft = {
  /** Of the message; a new one when it is left out. */
  readonly id?: string
  /** Of what is told about: an event or a request. Of one, everybody is told once by one template. */
  readonly origin: string
  readonly template: TemplateName
  readonly channel?: MessageChannel
  readonly to: {
    readonly email: string | null
    readonly name: string | null
    readonly customerId: string | null
    readonly locale: string | null
  }
  /** What the template says, without secrets. */
  readonly data: Readonly<Record<string, unknown>>
}
type Deps = { enqueue: Enqueue; locale: string; giveUpSeconds: number }

const NAME_LENGTH_MAX = 200
/**
 * What a program that shows mails makes a link of, such as `https://a.example` or `a.example`. Whoever registers or orders with
 * the address of somebody else writes to them by the name that they give, and such a mail does better without one.
 */
const LINK = /:\/\/|[\p{L}\p{N}][.\u3002]\p{L}{2,}/u

/** Writes down what is to be told, and has it sent once the transaction commits. */
export function createMessages({ enqueue, locale, giveUpSeconds }: Deps) {
  /** Who has no address that could be one is told nothing. Answers the ids of those that are new. */
  return async (tx: Transaction, drafts: readonly Draft[]): Promise<string[]> => {
    const gives_up_at = new Date(Date.now() + giveUpSeconds * 1_000)
    const rows = drafts.flatMap(({ id = newId(), origin, template, channel = 'email', to, data }) => {
      const recipient = to.email === null ? undefined : parseEmail(to.email)
      if (recipient === undefined) return []
      return {
        ...{ id, origin: derivedId(origin, `${template}:${recipient}`), template, channel },
        ...{ customer_id: to.customerId, locale: to.locale ?? locale, recipient, data, gives_up_at },
        recipient_name: to.name === null ? null : plainName(to.name)
      }
    })
    if (rows.length === 0) return []
    const made = await tx.rows(insertMessages, { rows })
    for (const { id } of made) enqueue(tx, sendMessage, { message_id: id, turn: 0 }, { subject: id })
    return made.map(({ id }) => id)
  }
}
export type WriteMessages = ReturnType<typeof createMessages>

/** A name stands in a header and in greetings: without line breaks, and without what makes an address or a link of it. */
const plainName = (name: string): string => {
  const plain = name
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029<>"\\]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return LINK.test(plain.normalize('NFKC')) ? '' : plain.slice(0, NAME_LENGTH_MAX)
}
