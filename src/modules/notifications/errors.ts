import { defineError } from '../../kernel/errors.ts'

export const messageNotFound = defineError('not_found', 'NOTIFICATION_NOT_FOUND', 'There is no such message.')
export const statusForbids = defineError(
  'conflict',
  'NOTIFICATION_STATUS_FORBIDS',
  'What the message is now forbids it; "message_status" says what it is.'
)
export const rendererBusy = defineError(
  'unavailable',
  'NOTIFICATION_RENDERER_BUSY',
  'Too many mails and previews wait to be rendered; try again shortly.'
)
export const recipientForbidden = defineError(
  'forbidden',
  'NOTIFICATION_RECIPIENT_FORBIDDEN',
  'Only administrators who look after mails send something to others; leave "to" out to have it sent to yourself.'
)
export const recipientInvalid = defineError(
  'invalid',
  'NOTIFICATION_RECIPIENT_INVALID',
  'This is no e-mail address.',
  { fault: { path: 'body/to', message: 'must be an e-mail address' } }
)
export const recipientUnknown = defineError(
  'conflict',
  'NOTIFICATION_RECIPIENT_UNKNOWN',
  'No e-mail address is known that it could be sent to.'
)
export const notSendable = defineError(
  'conflict',
  'NOTIFICATION_NOT_SENDABLE',
  'This is told when it happens, and not when somebody asks for it; "templates" lists what can be asked for.'
)
export const dataInvalid = defineError(
  'invalid',
  'NOTIFICATION_DATA_INVALID',
  'This template needs other data; "errors" says which.'
)
export const orderNotFound = defineError(
  'not_found',
  'NOTIFICATION_ORDER_NOT_FOUND',
  'There is no such order, or no such shipment of it, to tell about.'
)
export const notSo = defineError(
  'conflict',
  'NOTIFICATION_NOT_SO',
  'The order is not so that this could be said of it.'
)
export const templateNotFound = defineError(
  'not_found',
  'NOTIFICATION_TEMPLATE_NOT_FOUND',
  'There is no such template in this language.'
)
export const templateStale = defineError(
  'stale',
  'NOTIFICATION_TEMPLATE_STALE',
  'The template was changed in the meantime; read it again.'
)
export const templateInvalid = defineError(
  'invalid',
  'NOTIFICATION_TEMPLATE_INVALID',
  'The template cannot be used; "errors" says why, and in which line.'
)
export const suppressionNotFound = defineError(
  'not_found',
  'NOTIFICATION_SUPPRESSION_NOT_FOUND',
  'There is no such suppression.'
)
export const unsubscribeRefused = defineError(
  'invalid',
  'NOTIFICATION_UNSUBSCRIBE_REFUSED',
  'This is no link of ours to unsubscribe by; take the whole of it.'
)
export const templateForbidden = defineError(
  'forbidden',
  'NOTIFICATION_TEMPLATE_FORBIDDEN',
  'Mails with links that let somebody in are written by administrators who are limited to no modules.'
)
export const recipientUnverified = defineError(
  'conflict',
  'NOTIFICATION_RECIPIENT_UNVERIFIED',
  'Nothing is sent again to an address that its account has not verified.'
)
