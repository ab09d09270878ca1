import { defineError } from '../../kernel/errors.ts'

export const notificationNotFoundError = defineError(
  'not_found',
  'NOTIFICATION_NOT_FOUND',
  'There is no such notification. It may be deleted because of its age (notifications.retention_days).'
)
export const notificationStatusForbidsError = defineError(
  'conflict',
  'NOTIFICATION_STATUS_FORBIDS',
  'The status of the notification, in "message_status", does not allow this action.'
)
export const templateRendererBusyError = defineError(
  'unavailable',
  'NOTIFICATION_RENDERER_BUSY',
  'Too many mails and previews are waiting to be rendered. Try again shortly.'
)
export const notificationRecipientForbiddenError = defineError(
  'forbidden',
  'NOTIFICATION_RECIPIENT_FORBIDDEN',
  'Only administrators with access to notifications can send to others. Omit "to" to send to yourself.'
)
export const notificationRecipientInvalidError = defineError(
  'invalid',
  'NOTIFICATION_RECIPIENT_INVALID',
  'The value of "to" is not an e-mail address.',
  { fault: { path: 'body/to', message: 'must be an e-mail address' } }
)
export const notificationRecipientUnknownError = defineError(
  'conflict',
  'NOTIFICATION_RECIPIENT_UNKNOWN',
  'Neither the account nor the order has an e-mail address to send to.'
)
export const templateNotSendableError = defineError(
  'conflict',
  'NOTIFICATION_NOT_SENDABLE',
  'This template is sent only when its event happens. Use one of "templates".'
)
export const notificationDataInvalidError = defineError(
  'invalid',
  'NOTIFICATION_DATA_INVALID',
  'The data does not fit the template. Correct what "errors" lists.'
)
export const notificationOrderNotFoundError = defineError(
  'not_found',
  'NOTIFICATION_ORDER_NOT_FOUND',
  'There is no such order, or the order has no such shipment.'
)
export const notificationOrderStatusMismatchError = defineError(
  'conflict',
  'NOTIFICATION_NOT_SO',
  'The template does not match the status of the order, for example "order_paid" for an unpaid order.'
)
export const mailTemplateNotFoundError = defineError(
  'not_found',
  'NOTIFICATION_TEMPLATE_NOT_FOUND',
  'There is no such template in this language.'
)
export const mailTemplateStaleError = defineError(
  'stale',
  'NOTIFICATION_TEMPLATE_STALE',
  'The template has changed since you read it. Read it again.'
)
export const mailTemplateInvalidError = defineError(
  'invalid',
  'NOTIFICATION_TEMPLATE_INVALID',
  'The template has errors. "errors" names the part, the line and the reason of each.'
)
export const suppressionNotFoundError = defineError(
  'not_found',
  'NOTIFICATION_SUPPRESSION_NOT_FOUND',
  'There is no such suppression.'
)
export const unsubscribeLinkRefusedError = defineError(
  'invalid',
  'NOTIFICATION_UNSUBSCRIBE_REFUSED',
  'The unsubscribe link is not valid. Use the complete link of the mail.'
)
export const mailTemplateForbiddenError = defineError(
  'forbidden',
  'NOTIFICATION_TEMPLATE_FORBIDDEN',
  'Only administrators with full access can edit templates of mails with a login or reset link.'
)
export const notificationRecipientUnverifiedError = defineError(
  'conflict',
  'NOTIFICATION_RECIPIENT_UNVERIFIED',
  'The e-mail address of the account is not verified. Verify it first.'
)
