export type MailAddress = { readonly name: string; readonly address: string }

/** A rendered mail. Values that become headers contain no line break. */
export type OutgoingMail = {
  /** `Message-ID` with angle brackets, the same in every attempt. */
  readonly messageId: string
  readonly date: Date
  readonly to: MailAddress
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
  readonly template: string
  /** Id of the stored message. */
  readonly id: string
}

/**
 * A transport did not accept a mail. By default a retry can succeed.
 * @example
 * const error = new MailSendError('the mailbox is full', { isPermanent: true })
 * assert.deepEqual([error.isPermanent, error.isUnknownAddress], [true, false])
 */
export class MailSendError extends Error {
  /** A retry cannot succeed. */
  readonly isPermanent: boolean
  /** The address of the recipient does not exist. */
  readonly isUnknownAddress: boolean

  constructor(reason: string, { isPermanent = false, isUnknownAddress = false } = {}) {
    super(reason)
    this.isPermanent = isPermanent
    this.isUnknownAddress = isUnknownAddress
  }
}
