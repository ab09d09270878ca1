export type Mailbox = { readonly name: string; readonly address: string }

/** A mail as it is sent. What is a header holds no line break. */
export type Mail = {
  /** The same in every try, with angle brackets. */
  readonly messageId: string
  readonly date: Date
  readonly to: Mailbox
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
  readonly template: string
  /** Of the message. */
  readonly id: string
}

/** How mails leave the shop. */
export type Transport = {
  readonly name: 'smtp' | 'mailbox' | 'log'
  /** Resolves when somebody else has taken it on. @throws SendFailure */
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}

/** A mail was not taken. */
export class SendFailure extends Error {
  /** It never will be. */
  readonly isPermanent: boolean
  /** There is nobody at this address. */
  readonly isUnknownAddress: boolean

  constructor(reason: string, { isPermanent = false, isUnknownAddress = false } = {}) {
    super(reason)
    this.isPermanent = isPermanent
    this.isUnknownAddress = isUnknownAddress
  }
}
