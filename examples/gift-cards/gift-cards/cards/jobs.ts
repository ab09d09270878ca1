import { defineJob, wire } from 'cartwright'

export const mailCodeJob = defineJob(
  'gift_cards.mail_code',
  { description: 'Mails the code of a gift card once.', timeoutSeconds: 60, callsExternalService: true },
  { card_id: wire.Id }
)
export const expireCardsJob = defineJob(
  'gift_cards.expire_cards',
  { description: 'Ends expired gift cards.', timeoutSeconds: 300, intervalSeconds: 3_600 },
  {}
)
